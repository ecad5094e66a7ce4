"""Tests of the scripts of this folder: what they read of published files, of qlog, iperf, tc and ss."""

import csv
import io
import tempfile
import tomllib
import unittest
from argparse import ArgumentTypeError
from pathlib import Path

import freebsd
import hystart
import kernel
import testbed

BED = """figure,vpn_split,cc,sat_rate_mbit,sat_delay_ms_each_way,wlan_loss_percent,runs,median_mbit,mean_mbit,run1,run2,run3
delayLoss,False,bbr,10.0,50.0,0.0,3,9,9,9.1,9.0,9.2
delayLoss,False,cubic,10.0,300.0,1.0,3,1,1,0.8,1.0,1.2
delayLinkrate,False,cubic,100.0,300.0,1.0,3,1,1,1.0,1.0,1.0
"""
EXITS = """Setup,
"Single flow, FL or RL tested separately",
,
,FL (Mbit/s),RL (Mbit/s),RTT (ms),BDP_FL (packets),FL_noVpn_eventCount,FL_noVpn_eventCountDelay,FL_noVpn_eventCountTrain,FL_noVpn_eventCountNone,FL_noVpn_delayCwndMedian,BDP_RL (packets),RL_noVpn_eventCount,RL_noVpn_eventCountDelay,RL_noVpn_eventCountTrain,RL_noVpn_eventCountNone,RL_noVpn_delayCwndMedian
Astra,20,2,600,1000,40,0,7,33,,100,40,0,40,0,
Starlink,200,20,40,666,40,40,0,0,62,66,40,36,0,4,47
,,,,,,,,,,,,,,,,,^--- a remark
Legend,
"""
IPERF = """
[  1] local 10.0.0.3%c0 port 35966 connected with 10.0.3.3 port 5001 (reverse) (sock=3)
[ ID] Interval            Transfer    Bandwidth       Reads=Dist
[ *1] 0.0000-11.9217 sec  15360 KBytes  10555 Kbits/sec  473=352:4:1:6:4:4:2:100
"""
TC = """qdisc netem 8003: root refcnt 2 limit 1000 loss 1% rate 1Gbit
 Sent 13849240 bytes 9158 pkt (dropped 33, overlimits 0 requeues 0)
"""
SS = """at 10.08 server
0 266432 10.0.3.3:5001 10.0.0.3:56360 skmem:(r0,rb131072,t0,tb400896,f320,w335552,o0,bl0,d0) bbr rtt:602.397/3.764 cwnd:53 unacked:68 lost:1 sacked:15 rcv_space:14480 rcv_ssthresh:64088 notsent:167968 minrtt:600 snd_wnd:131200
at 10.08 client
0 0 10.0.0.3:56360 10.0.3.3:5001 skmem:(r66104,rb1752000,t0,tb69120,f3528,w0,o0,bl0,d1) rtt:1125.89/600.512 cwnd:11 rcv_rtt:600 rcv_space:63712 rcv_ssthresh:212176 snd_wnd:65152
at 10.33 server
0 266432 10.0.3.3:5001 10.0.0.3:56360 skmem:(r0,rb131072,t0,tb400896,f1600,w334272,o0,bl0,d0) bbr rtt:600.378/0.297 cwnd:53 unacked:88 rwnd_limited:196ms(5%) snd_wnd:189056
"""


def written(folder, text):
    path = Path(folder) / "file.csv"
    path.write_text(text)
    return path


class TestBed(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            self.cells = testbed.read(written(folder, BED))

    def test_cells_and_runs_are_read(self):
        first = self.cells[0]
        self.assertEqual((first.control, first.rate, first.delay_ms), ("bbr", 10, 50))
        self.assertEqual(first.theirs, (9.1, 9.0, 9.2))

    def test_another_form_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            for text in ("", "a,b\n1,2\n", BED.replace("9.1", "fast")):
                with self.assertRaises(ValueError):
                    testbed.read(written(folder, text))

    def test_every_cell_has_the_same_hosts(self):
        for cell in self.cells:
            values = testbed.settings(cell)
            for key, value in testbed.HOSTS.items():
                self.assertEqual(values[key.format(control=cell.control)], value)
        self.assertEqual(testbed.settings(self.cells[0])["link.wlan.channel"], "perfect")
        lossy = testbed.settings(self.cells[1])["link.wlan.channel"]
        self.assertEqual(lossy["packet_error_rate"], "1%")

    def test_the_study_is_toml_with_a_point_for_each_cell(self):
        study = tomllib.loads(testbed.study(self.cells))
        labels = [point["label"] for point in study["axis"][0]["points"]]
        self.assertEqual(len(set(labels)), 3)
        self.assertEqual(study["replications"], testbed.RUNS)

    def test_goodput_is_over_the_time_from_the_request_to_the_last_byte(self):
        row = {
            "started_at_ns": "0",
            "last_delivery_at_ns": "60300000000",
            "delivered_bytes": "7500000",
        }
        self.assertAlmostEqual(testbed.goodput(row, 300), 1.0)

    def test_segments_in_a_packet_follow_from_what_a_hop_lost(self):
        # Of 1000 packets of two segments 10 are lost: 1980 segments pass.
        self.assertAlmostEqual(testbed.segments_each(1, "1980", "10"), 2)
        self.assertIsNone(testbed.segments_each(0, "1980", "0"))

    def test_bars_are_judged_by_control(self):
        bbr, cubic = self.cells[0], self.cells[1]
        lines, met = testbed.judged([bbr, cubic], {bbr: [9.1], cubic: [1.0]})
        self.assertTrue(met)
        self.assertIn("| cubic | 1 | 0.0% | 100% |", lines[-1])
        lines, met = testbed.judged([bbr, cubic], {bbr: [9.1], cubic: [0.7]})
        self.assertFalse(met)
        self.assertIn("-30.0%", lines[-1])


class HyStart(unittest.TestCase):
    def rows(self, text=EXITS):
        with tempfile.TemporaryDirectory() as folder:
            return hystart.read(written(folder, text))

    def test_paths_are_read_in_both_directions(self):
        rows = self.rows()
        self.assertEqual(
            [(r.path, r.direction, r.rate, r.back, r.bdp) for r in rows],
            [
                ("Astra", "FL", 20, 2, 1000),
                ("Astra", "RL", 2, 20, 100),
                ("Starlink", "FL", 200, 20, 666),
                ("Starlink", "RL", 20, 200, 66),
            ],
        )
        self.assertEqual(rows[0].theirs, hystart.Counts(40, 0, 7, 33, None))
        self.assertEqual(rows[3].theirs, hystart.Counts(40, 36, 0, 4, 47))

    def test_another_form_is_an_error(self):
        for text in ("", "a,b\n", EXITS.replace("noVpn_eventCountTrain", "other")):
            with self.assertRaises(ValueError):
                self.rows(text)

    def test_every_path_has_settings(self):
        for row in self.rows():
            self.assertEqual(
                hystart.settings(row)["link.path.one_way_delay"], f"{row.rtt_ms / 2:g} ms"
            )

    def test_the_exit_is_the_first_end_of_slow_start(self):
        state = '\x1e{"time":%s,"name":"recovery:congestion_state_updated","data":{"old":"slow_start","new":"%s"}}\n'
        metrics = '\x1e{"time":9,"name":"recovery:metrics_updated","data":{"ssthresh":%d}}\n'
        text = state % (341.2, "congestion_avoidance") + metrics % (62 * hystart.MSS)
        text += state % (900, "recovery") + metrics % 10
        self.assertEqual(hystart.exit_of(text), (341.2, 62, False))
        self.assertTrue(hystart.exit_of(state % (1, "recovery") + metrics % 10)[2])
        self.assertIsNone(hystart.exit_of("\x1e{}\n"))

    def test_an_exit_that_stays_without_trains_is_one_by_delay(self):
        exit = (341.2, 62, False)
        self.assertEqual(hystart.kind_of(exit, exit), "delay")
        self.assertEqual(hystart.kind_of(exit, (400.0, 90, False)), "train")
        self.assertEqual(hystart.kind_of(exit, None), "train")
        self.assertEqual(hystart.kind_of((341.2, 62, True), exit), "neither")
        self.assertEqual(hystart.kind_of(None, None), "neither")


class Kernel(unittest.TestCase):
    def test_goodput_is_bytes_over_the_time_to_the_last_one(self):
        self.assertAlmostEqual(kernel.goodput(IPERF), 15360 * 1024 * 8 / 11.9217 / 1e6)
        with self.assertRaises(kernel.vm.CannotRun):
            kernel.goodput("connect failed")

    def test_counts_of_netem(self):
        self.assertEqual(kernel.netem_counts(TC), (9158, 33))

    def test_a_row_has_the_sender_and_what_the_receiver_said_after_it(self):
        rows = kernel.seen(SS)
        self.assertEqual([row["seconds"] for row in rows], [0.0, 0.25])
        self.assertEqual(rows[0]["in_flight"], "68")
        self.assertEqual(rows[0]["sndbuf_used"], "335552")
        self.assertEqual((rows[0]["rcvbuf"], rows[0]["rcv_ssthresh"]), ("1752000", "212176"))
        self.assertEqual(rows[1]["rwnd_limited"], "196")
        self.assertNotIn("rcvbuf", rows[1])

    def test_cells_are_named_as_the_help_says(self):
        self.assertEqual(kernel.cell_of("bbr,100,300,1"), ("bbr", 100, 300, 1))
        for text in ("bbr,100,300", "reno,1,1,1", "bbr,fast,1,1"):
            with self.assertRaises(ArgumentTypeError):
                kernel.cell_of(text)

    def test_each_run_has_its_cell_in_the_script(self):
        text = kernel.script([("cubic", 50, 10, 0), ("bbr", 1, 300, 4)], 2, watched=False)
        self.assertIn("rate 50mbit delay 10ms", text)
        self.assertIn("rate 1000mbit loss 4%", text)
        self.assertEqual(text.count("iperf -c"), 4)
        for word in ("CONTROL", "SECONDS", "NAME", "WATCH"):
            self.assertNotIn(word, text)

    def test_stored_rows_are_read_back(self):
        row = dict(zip(kernel.COLUMNS, ("6.1", "bbr", 100, 300, 1, 5, 6, 0, "15.1 15.2")))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel.csv"
            kernel.store(path, {("6.1", "bbr", 100, 300, 1): row})
            self.assertEqual(list(kernel.load(path)), [("6.1", "bbr", 100, 300, 1)])
            self.assertEqual(list(csv.reader(io.StringIO(path.read_text())))[0], kernel.COLUMNS)


class FreeBSD(unittest.TestCase):
    def test_settings_buffers_windows_and_options_are_left_out(self):
        text = """+0.00 `sysctl -w net.inet.tcp.rfc1323=1`
+0.00 fcntl(3, F_GETFL) = 0x02 (flags O_RDWR)
+0.00 getsockopt(3, SOL_SOCKET, SO_RCVBUF, [65536], [4]) = 0
+0.00 > S  0:0(0)       win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 100 ecr 0>
+0.10 < S. 0:0(0) ack 1 win 32767 <mss 1460,sackOK,eol,eol>"""
        self.assertEqual(
            freebsd.adapted(text).split("\n"),
            [
                "+0.00 fcntl(3, F_GETFL) = 2",
                "+0.00 > S  0:0(0)       <...>",
                "+0.10 < S. 0:0(0) ack 1 win 32767 <mss 1460,sackOK,eol,eol>",
            ],
        )

    def test_failures_have_groups(self):
        missing = {"what": "nothing is sent", "expected": ". 1:1(0) ack 1", "found": "nothing"}
        group = "no acknowledgement or reset of what does not fit"
        self.assertEqual(freebsd.reason_of("rcv-syn-established/x.pkt", missing), group)
        self.assertEqual(freebsd.reason_of("rcv-fin-time-wait/x.pkt", missing), "in TIME-WAIT")


if __name__ == "__main__":
    unittest.main()
