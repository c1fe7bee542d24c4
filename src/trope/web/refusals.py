"""What a request can be refused for, beyond what the rest of the package refuses."""

from __future__ import annotations

from trope.errors import DataError, TropeError, UsageError


class NotThereError(UsageError):
    """The item, picture or page that is asked for does not exist."""


class ChangedError(NotThereError):
    """The picture is another one than when it was indexed."""


class TooMuchError(DataError):
    """An upload is larger, or takes longer, than is allowed."""


class UnsavedError(TropeError):
    """What was decided cannot be written down."""


class GoneError(TropeError):
    """The index was removed while it is served."""


class BusyError(TropeError):
    """It cannot be answered now; it can be asked again."""
