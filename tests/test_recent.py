"""What was found lately is kept up to a bound."""

from __future__ import annotations

import threading

from trope.recent import Recent


def test_the_longest_unused_goes_first() -> None:
    kept: Recent[str, int] = Recent(2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert [kept.get(name) for name in "abc"] == [1, None, 3]
    assert (kept.hits, kept.misses) == (3, 1)


def test_heavy_values_push_others_out() -> None:
    kept: Recent[str, bytes] = Recent(100, 10, len)
    for name in "abcd":
        kept.put(name, b"1234")
    assert len(kept) == 2
    kept.put("d", b"12345678")
    assert [kept.get(name) for name in "cd"] == [None, b"12345678"]
    kept.put("e", b"1" * 50)  # one alone may be heavier
    assert kept.get("e") == b"1" * 50
    kept.put("f", b"1")
    assert len(kept) == 1


def test_threads_do_not_disturb_each_other() -> None:
    kept: Recent[int, int] = Recent(8)
    wrong: list[int] = []

    def use(seed: int) -> None:
        for step in range(3_000):
            key = (seed * step) % 20
            if (found := kept.get(key)) not in (None, key):
                wrong.append(found or -1)
            kept.put(key, key)

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(kept) == 8
