"""What bench.py leaves behind a run; the figures are made up here, the runs themselves are `make bench-smoke`."""

import argparse
import json
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "bench"))

import bench  # noqa: E402
import charts  # noqa: E402
import pairs  # noqa: E402
import report  # noqa: E402
import scenarios  # noqa: E402
import smoke  # noqa: E402
from plan import Plan  # noqa: E402
from report import Row  # noqa: E402

ROWS = [Row(f"RTMP play, {players:,} players", measure, 0.5, 0.4, ratio=1.25, target="<= 1.10 x floor", met=False)
        for players in (500, 5000) for measure in ("CPU-s/GB", "memory a player, KiB")]


@pytest.mark.parametrize(("cpu", "kind"), [
    ("Intel(R) Xeon(R) Processor", "2-cores-intel-xeon"),
    ("Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz", "2-cores-intel-core-i7-8700"),
    ("AMD Ryzen 9 5950X 16-Core Processor", "2-cores-amd-ryzen-9-5950x"),
])
def test_a_file_is_named_after_the_machine(cpu, kind):
    assert bench.host_kind(cpu, 2) == kind


def test_a_machine_without_a_name_is_called_by_its_instructions():
    assert bench.host_kind("", 4) == "4-cores-" + bench.platform.machine().replace("_", "-")


def test_the_whole_matrix_leaves_json_a_table_and_charts(tmp_path):
    output = tmp_path / "run.json"
    bench.write_results(argparse.Namespace(output=output, whole=True), ROWS, "bench.py --repeats 3")
    kept = json.loads(output.read_text())
    assert kept["command"] == "bench.py --repeats 3" and len(kept["rows"]) == len(ROWS)
    table = output.with_suffix(".md").read_text()
    assert "| RTMP play, 5,000 players | CPU-s/GB | 0.50 | 0.40 | 1.25 | - | <= 1.10 x floor | **missed** |" in table
    for name in ("cpu.svg", "memory.svg"):
        assert xml.etree.ElementTree.parse(tmp_path / name).getroot().tag.endswith("svg")


def test_a_run_of_some_parts_writes_only_json(tmp_path):
    bench.write_results(argparse.Namespace(output=tmp_path / "run.json", whole=False), ROWS, "bench.py --only play")
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


def test_no_chart_is_drawn_without_rows(tmp_path):
    (tmp_path / "run.json").write_text('{"rows": []}')
    assert charts.draw(tmp_path / "run.json", tmp_path) == []


def plan_of(**changed) -> Plan:
    return Plan(**{"parts": ["publish"], "players": [], "flv_players": [], "tls_players": [], "whep_players": [], "hls_players": [], "srt_players": [],
                             "srt_streams": [], "streams": [500, 1000], "repeats": 3, "seconds": 1,
                             "slack": 1, "with_nginx": True, "command": "bench.py", "smoke": False, **changed})


def test_a_missed_row_is_not_measured_again(monkeypatch):
    calls = []

    def publish_rows(_lab, asked):
        calls.append(asked)
        return [Row(f"RTMP publish, {streams:,} streams", "CPU-s/GB", 2.5, ratio=1.3, met=False) for streams in asked.streams]

    monkeypatch.setattr(scenarios, "publish_rows", publish_rows)
    rows = scenarios.run_parts(None, plan_of())
    assert len(calls) == 1 and [row.met for row in rows] == [False, False]


def test_a_ratio_shows_the_spread_of_its_pairs():
    row = Row("HTTPS-FLV play, 1,000 players", "CPU-s/GB", 2.0, 1.9, ratio=1.05, pairs=[1.05, 0.98, 1.2])
    assert "| 1.05 (0.98-1.20) |" in report.markdown([row], "bench.py", bench.machine())


def test_a_build_that_gains_by_starting_first_is_no_cheaper():
    gains = [([1.0, 9.0, 1.0], [1.25, 9.0, 1.25]), ([1.25], [1.0])]
    row = pairs.compared("play", "CPU-s/GB", gains, plan_of())
    assert row.ratio == pytest.approx(1) and row.met
    dearer = pairs.compared("play", "CPU-s/GB", [([1.1], [1.0]), ([1.1], [1.0])], plan_of())
    assert dearer.ratio == pytest.approx(1.1) and not dearer.met


def test_pairs_want_another_build():
    with pytest.raises(pairs.BenchError, match="--build NAME=PATH"):
        pairs.pairs_rows(None, plan_of(builds={}))


def test_pairs_measures_chosen_rows():
    measures = pairs.measurements(None, Path("old"), plan_of())
    assert list(pairs.chosen(measures, [])) == list(measures)
    assert list(pairs.chosen(measures, ["publish", "rtmp"])) == ["rtmp", "publish"]
    with pytest.raises(pairs.BenchError, match="no row rtpm; --rows takes rtmp, flv"):
        pairs.chosen(measures, ["rtmp", "rtpm"])


def test_rows_belong_to_pairs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench.py", "--only", "play", "--rows", "rtmp"])
    with pytest.raises(SystemExit):
        bench.parse_arguments()
    assert "--rows chooses rows of --only pairs" in capsys.readouterr().err


def smoke_runs(*ratios: float, share: float = 1, failed: int = 0) -> list[smoke.Run]:
    return [smoke.Run(at % 2 == 0, ratio, share, failed) for at, ratio in enumerate(ratios)]


def test_smoke_fails_beyond_a_tenth_over_the_stored_ratio():
    stored = {"ratio": 1.0}
    assert smoke.judged("RTMP play", smoke_runs(1.09, 1.09), stored, "a machine", "").met is True
    assert smoke.judged("RTMP play", smoke_runs(1.11, 1.11), stored, "a machine", "").met is False
    assert smoke.judged("RTMP play", smoke_runs(1.3, 0.9, 1.3, 0.9), stored, "a machine", "").ratio == pytest.approx((1.3 * 0.9) ** 0.5)


def test_smoke_does_not_judge_an_unknown_or_busy_machine():
    unknown = smoke.judged("RTMP play", smoke_runs(9, 9), None, "3-cores-of-something", "")
    assert unknown.met is None and "no ratio of this row is stored for 3-cores-of-something" in unknown.note
    busy = smoke.judged("RTMP play", smoke_runs(9, 9, share=0.5), {"ratio": 1.0}, "a machine", "")
    assert busy.met is None and "too busy" in busy.note
    assert smoke.judged("RTMP play", smoke_runs(1, 1, failed=3), None, "a machine", "").met is False


def test_stored_ratios_are_means_of_their_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(smoke, "STORED", tmp_path / "ratios.json")
    for ratio in (1.0, 1.21):
        smoke.keep([smoke.judged("RTMP play", smoke_runs(ratio, ratio), None, "kind", "")], "kind", "2026-11-29")
    assert smoke.stored_of("kind") == {"RTMP play": {"runs": [1.0, 1.21], "ratio": 1.1, "spread": [1.0, 1.21], "date": "2026-11-29"}}
    assert smoke.stored_of("another") == {}
