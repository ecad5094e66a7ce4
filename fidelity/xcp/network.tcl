# XCP over a satellite bottleneck in ns-2 (2.35): one cell.
#
#   ns network.tcl --rtts 0.6,0.6 --starts 0,20 --per 0 --duration 200 --seed 1
#
#   sender i --(100 Mbit/s, leg: delay, losses)-- R0 --(10 Mbit/s, 10 ms, XCP)-- R1 --(100 Mbit/s)-- receiver i
#
# A flow's leg has what its round trip leaves: rtt / 2 - 10 ms one way. Losses strike data on its way to
# R0. Prints a line a second: the time, then for each flow its cwnd and the payload bytes acknowledged;
# at the end `drops N`.
#
# A packet has 1500 bytes on the wire: 1428 of payload, 52 of headers with timestamps, 20 of congestion
# header, which ns-2 does not count by itself.

array set option {--rtts 0.6 --starts 0 --per 0 --duration 200 --seed 1 --limit 500}
foreach {name value} $argv {
    if {![info exists option($name)]} { puts stderr "network.tcl: unknown option $name"; exit 2 }
    set option($name) $value
}
set rtts [split $option(--rtts) ,]
set starts [split $option(--starts) ,]
set payload 1428
set bottleneck_delay 0.010

ns-random $option(--seed)
set ns [new Simulator]
Queue/XCP set tcp_xcp_on_ 0
Queue set limit_ 100000
Agent/TCP set tcpip_base_hdr_size_ 60
Agent/TCP set ts_option_size_ 12
Agent/TCP set window_ 10000
Agent/TCP set packetSize_ $payload

set r0 [$ns node]
set r1 [$ns node]
$ns duplex-link $r0 $r1 10Mb ${bottleneck_delay}s XCP
$ns queue-limit $r0 $r1 $option(--limit)
set bottleneck [[$ns link $r0 $r1] queue]
$bottleneck set-link-capacity 10000000
[[$ns link $r1 $r0] queue] set-link-capacity 10000000

for {set i 0} {$i < [llength $rtts]} {incr i} {
    set sender [$ns node]
    set receiver [$ns node]
    set leg [expr {[lindex $rtts $i] / 2.0 - $bottleneck_delay}]
    $ns duplex-link $sender $r0 100Mb ${leg}s DropTail
    $ns duplex-link $r1 $receiver 100Mb 0s DropTail
    if {$option(--per) > 0} {
        set loss [new ErrorModel]
        $loss set rate_ $option(--per)
        $loss unit pkt
        set rng [new RNG]
        set variable [new RandomVariable/Uniform]
        $variable use-rng $rng
        $loss ranvar $variable
        $loss drop-target [new Agent/Null]
        $ns link-lossmodel $loss $sender $r0
    }
    set tcp($i) [new Agent/TCP/Reno/XCP]
    set sink [new Agent/TCPSink/XCPSink]
    $ns attach-agent $sender $tcp($i)
    $ns attach-agent $receiver $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [lindex $starts $i] "$ftp start"
}

proc sample {} {
    global ns tcp payload option
    set line [format %.0f [$ns now]]
    for {set i 0} {$i < [array size tcp]} {incr i} {
        set acked [$tcp($i) set ack_]
        append line " [format %.2f [$tcp($i) set cwnd_]] [expr {($acked > 0 ? $acked : 0) * $payload}]"
    }
    puts $line
    $ns at [expr {[$ns now] + 1.0}] sample
}
$ns at 1.0 sample
$ns at [expr {$option(--duration) + 0.5}] {
    puts "drops [$bottleneck queue-read-drops]"
    exit 0
}
$ns run
