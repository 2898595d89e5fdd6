from itertools import islice

from cogniload_repro.puzzles.exs1024 import _seed_words, draw_words


def test_words_are_those_of_the_plain_recurrence():
    """Sixteen at a time, words are those that the definition gives one by one."""
    mask = 2**64 - 1
    state, used, plain = _seed_words(770_487), [], []
    for _ in range(1000):
        if len(state) == 1:
            state, used = state + used, []
        first, second = state[0], state[1]
        second ^= second << 31 & mask
        second ^= second >> 11
        first ^= first >> 30
        used.append(state[0])
        state = [first ^ second, *state[2:]]
        plain.append((first ^ second) * 1181783497276652981 & mask)
    assert list(islice(draw_words(770_487), 1000)) == plain
    assert list(islice(draw_words(770_487 + 2**21), 10)) == plain[:10]
