from pluriverse_server.manifest.game import GameTables
from pluriverse_server.programs.scraped import ATTEMPTS, OWN_TIME_S, patience_s


def test_daemon_is_more_patient_than_all_of_the_games_own_limits_together() -> None:
    game = GameTables.model_validate(
        {
            "program": {"command": ["game"], "ready": {"timeout_s": 20}},
            "reset": {
                "by": "keys",
                "start": [{"until": "over", "timeout_s": 7}],
                "steps": [{"keys": ["x"], "until": "over", "timeout_s": 3}],
            },
            "sources": {"over": {"from": "process", "read": "exit"}},
            "episode": {"ready_timeout_s": 5},
        }
    )
    assert patience_s(game) == OWN_TIME_S + ATTEMPTS * (20 + 7 + 3 + 5)
