"""Losses: a batch of pairs in, one number per pair out; penalties: one number per batch."""

from __future__ import annotations

from trope.losses.angular import Angular
from trope.losses.candidates import candidates
from trope.losses.daa import DAA, DAASettings
from trope.losses.dscmr import DSCMR
from trope.losses.hal import HAL
from trope.losses.infonce import InfoNCE
from trope.losses.labels import Labels
from trope.losses.loss import Loss
from trope.losses.npairs import NPairs
from trope.losses.pcme import PCME
from trope.losses.penalties import Penalty, diversity, mmd
from trope.losses.siglip import SigLIP
from trope.losses.soft_targets import SoftTargets
from trope.losses.structure import Structure
from trope.losses.triplet import Triplet

LOSSES: dict[str, type[Loss]] = {
    "angular": Angular,
    "dscmr": DSCMR,
    "hal": HAL,
    "infonce": InfoNCE,
    "labels": Labels,
    "npairs": NPairs,
    "pcme": PCME,
    "siglip": SigLIP,
    "soft-targets": SoftTargets,
    "structure": Structure,
    "triplet": Triplet,
}

PENALTIES: dict[str, Penalty] = {"diversity": diversity, "mmd": mmd, "candidates": candidates}

__all__ = ["DAA", "LOSSES", "PENALTIES", "DAASettings", "Loss", "Penalty"]
