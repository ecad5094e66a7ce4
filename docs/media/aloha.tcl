# A hundred terminals under a geostationary repeater of ns-2 with its unslotted
# ALOHA and one packet of 210 bytes now and then each (the traffic of ns-2's
# example with a satellite and ALOHA). Usage: ns aloha.tcl IDLE RUN FILE
# where IDLE is the mean time between a terminal's packets, in seconds, RUN the
# number of the random sub-stream and FILE gets the trace.
lassign $argv idle run file
set ns [new Simulator]
global defaultRNG
for {set i 1} {$i < $run} {incr i} { $defaultRNG next-substream }
set trace [open $file w]
$ns trace-all $trace

$ns node-config -satNodeType geo-repeater -llType LL/Sat -ifqType Queue/DropTail -ifqLen 50 \
    -macType Mac/Sat/UnslottedAloha -phyType Phy/Sat -channelType Channel/Sat -downlinkBW 2Mb -wiredRouting OFF
set satellite [$ns node]
$satellite set-position 0

$ns node-config -satNodeType terminal
for {set i 0} {$i < 100} {incr i} {
    set terminal($i) [$ns node]
    # From 15 degrees south-west to 15 degrees north-east of the point below.
    $terminal($i) set-position [expr -15 + 0.3 * ($i + 1)] [expr 15 - 0.3 * ($i + 1)]
    $terminal($i) add-gsl geo LL/Sat Queue/DropTail 50 Mac/Sat/UnslottedAloha 2Mb Phy/Sat \
        [$satellite set downlink_] [$satellite set uplink_]
}
for {set i 0} {$i < 100} {incr i} {
    set sender [new Agent/UDP]
    $ns attach-agent $terminal($i) $sender
    set sink [new Agent/Null]
    $ns attach-agent $terminal([expr ($i + 50) % 100]) $sink
    $ns connect $sender $sink
    set source [new Application/Traffic/Exponential]
    $source set rate_ 10000Mb
    $source set burst_time_ 0
    $source set idle_time_ $idle
    $source set packetSize_ 210
    $source attach-agent $sender
    $ns at 1.0 "$source start"
}
$ns trace-all-satlinks $trace
set routes [new SatRouteObject]
$routes compute_routes
$ns at 501.0 "close $trace; exit 0"
$ns run
