"""All attacks at once, shortly: `make hostile` is the whole, two minutes of it."""

import pytest

import hostile
import own_network


def attack(tmp_path, clip, seconds: int, calm: int, players: int) -> None:
    report = hostile.run(tmp_path, clip, seconds, calm, players)
    assert not report["failures"], report


@pytest.mark.alone
@pytest.mark.parametrize("seconds, calm, players", [pytest.param(8, 6, 8, id="short"),
                                                    pytest.param(60, 60, 50, id="whole", marks=pytest.mark.long)])
def test_players_are_not_affected_by_all_attacks_at_once(tmp_path, clip, seconds, calm, players):
    own_network.run(attack, tmp_path, clip("basic"), seconds, calm, players, limit_s=seconds + calm + 120)
