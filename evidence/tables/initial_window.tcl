# One transfer of the emulator of Marchese (2006), section 3.3, in ns-2 (2.35): Sack1, 1% of the data
# lost on the satellite channel. Prints the time of the last acknowledgement, s.
#
#   ns initial_window.tcl --rate 2 --window 6 --seed 1
#
# `--rate` in Mbit/s. 724 segments of 1448 bytes are a file of 1 Mbyte; the window of 113 is that of 320
# KiB in Linux 2.2, the round trip 511 ms, the queue 100 packets.

array set option {--rate 2 --window 6 --delack 0.2 --seed 1}
foreach {name value} $argv {
    if {![info exists option($name)]} { puts stderr "initial_window.tcl: unknown option $name"; exit 2 }
    set option($name) $value
}
ns-random $option(--seed)
set draws [new RNG]
set starts [new RNG]

set ns [new Simulator]
foreach node {server uplink downlink client} { set n($node) [$ns node] }
$ns duplex-link $n(server) $n(uplink) 10Mb 0ms DropTail
$ns duplex-link $n(uplink) $n(downlink) $option(--rate)Mb 255.5ms DropTail
$ns duplex-link $n(downlink) $n(client) 10Mb 0ms DropTail
foreach {from to} {server uplink uplink downlink downlink client} {
    $ns queue-limit $n($from) $n($to) 100000
}
$ns queue-limit $n(uplink) $n(downlink) 100

set channel [new ErrorModel]
$channel unit pkt
$channel set rate_ 0.01
$channel ranvar [new RandomVariable/Uniform]
[$channel ranvar] use-rng $draws
$channel drop-target [new Agent/Null]
$ns link-lossmodel $channel $n(uplink) $n(downlink)

set tcp [new Agent/TCP/Sack1]
$tcp set packetSize_ 1448
$tcp set window_ 113
$tcp set windowInit_ $option(--window)
$tcp set maxcwnd_ 0
set sink [new Agent/TCPSink/Sack1/DelAck]
$sink set interval_ $option(--delack)
$ns attach-agent $n(server) $tcp
$ns attach-agent $n(client) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

set began [expr {[$starts uniform 0 0.1]}]
$tcp proc done {} {
    global ns began
    puts [format "%.3f" [expr {[$ns now] - $began}]]
    exit 0
}
$ns at $began "$tcp advanceby 724"
$ns at 2000 "exit 1"
$ns run
