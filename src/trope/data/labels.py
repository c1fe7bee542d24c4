"""Labels of rows and of pairs as sparse matrices, and what there is to say about them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from trope.data.pairs import Pairs
from trope.data.samples import Samples

NAMED = 3  # labels that a remark lists


def labels_of_rows(pairs: Pairs) -> tuple[sparse.csr_matrix, tuple[str, ...]]:
    """Which labels each row has: a row of ones for each, a column for each label of the data."""
    column = pairs.column("labels")
    counts = np.asarray(pc.fill_null(pc.list_value_length(column), 0), np.int64)
    names = pa.chunked_array(pc.list_flatten(column)).combine_chunks().dictionary_encode()
    codes = np.asarray(names.indices, np.int64)
    shape = (len(pairs), max(len(names.dictionary), 1))
    rows = np.repeat(np.arange(len(pairs)), counts)
    found = sparse.csr_matrix((np.ones(len(codes), np.int32), (rows, codes)), shape)
    found.data[:] = 1
    return found, tuple(names.dictionary.to_pylist())


def label_names(pairs: Pairs) -> tuple[str, ...]:
    """The labels of these rows, in the order of their names."""
    return tuple(sorted(labels_of_rows(pairs)[1]))


def labels_of_samples(pairs: Pairs, samples: Samples, names: Sequence[str]) -> sparse.csr_matrix:
    """Which of some labels each pair has: those of all rows of its split that show its picture."""
    by_row, there = labels_of_rows(pairs)
    places = {name: place for place, name in enumerate(names)}
    kept = [(column, places[name]) for column, name in enumerate(there) if name in places]
    columns, targets = np.array(kept, np.int64).reshape(-1, 2).T
    ones = np.ones(len(kept), np.int32)
    chosen = sparse.csr_matrix((ones, (columns, targets)), (by_row.shape[1], len(names)))
    owners = pairs.flat_texts()[1][samples.texts]
    shape = (int(samples.images.max(initial=-1)) + 1, len(pairs))
    shown = sparse.csr_matrix((np.ones(len(owners), np.int32), (samples.images, owners)), shape)
    found = (shown @ by_row @ chosen).tocsr()[samples.images]
    return found.astype(bool)


def told_of_labels(
    train: sparse.csr_matrix, val: sparse.csr_matrix, pairs: Pairs, names: Sequence[str]
) -> list[str]:
    """What is unusual about labels: pairs without any, labels that training never sees, one each.

    Of the test split only the names of its labels are looked at.
    """
    told = []
    for split, labels in (("train", train), ("val", val)):
        if without := int((np.diff(labels.indptr) == 0).sum()):
            told.append(
                f"labels: {without:,} of {labels.shape[0]:,} pairs of '{split}' have none that "
                "training knows; nothing is learned or measured from them about labels"
            )
    unknown = sorted(set(label_names(pairs)) - set(names))
    if unknown:
        some = ", ".join(unknown[:NAMED]) + (", …" if unknown[NAMED:] else "")
        told.append(
            f"labels: {len(unknown):,} stand in no row of 'train' and are never predicted ({some})"
        )
    if is_single(train):
        all_have = bool(np.diff(train.indptr).all())
        told.append(
            f"labels: every pair of 'train' {'' if all_have else 'that has labels '}has one of "
            f"{len(names):,}: the label with the highest score is predicted, without a threshold"
        )
    return told


def is_single(labels: sparse.csr_matrix) -> bool:
    """Whether every pair that has a label has exactly one."""
    counts = np.diff(labels.indptr)
    return bool(counts.max(initial=0) == 1)
