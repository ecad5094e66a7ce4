# One cell of the study for ns-2 (2.35): flows that share one bottleneck behind satellite legs.
#
#   ns network.tcl --agent Sack1 --rtt 0.6 --per 0.01 --burst 1 --duration 1000 --seed 1
#
#   sender --(100 Mbit/s, satellite leg: delay, losses)-- R1 --(10 Mbit/s, 10 ms)-- R2 --(100 Mbit/s)-- receiver
#
# The topology of Caini & Firrincieli (2006), figure 1. The delay of a flow's leg is what its round
# trip leaves: rtt / 2 - 10 ms one way. Losses strike data on its way from the sender to R1, after the
# leg's transmitter. Prints one line of JSON, the last one (TCP/Linux talks on stdout itself).
#
# Flow 0 is the one under test. Beside it run `--ground` flows (Sack1, round trip 25 ms, no losses) and
# `--peers` more flows like flow 0, each with a leg and losses of its own. `--reverse` flows like the ground flows
# run the other way through R2 and R1, where the ACKs then wait in a queue of `--limit` packets.

# ---- options ---------------------------------------------------------------------------------
array set option {
    --agent Sack1  --rtt 0.6  --per 0  --burst 1  --queue droptail  --limit 50
    --ground 0  --peers 0  --delack 0  --duration 600  --seed 1
    --window 10000  --access 100  --access-limit 100000  --rate 10
    --reverse 0  --ack-per 0  --ecn 0  --overhead 0
    --minth 5  --maxth 15  --weight 0.002  --maxp 0.1
    --trace ""  --samples ""
}
foreach {name value} $argv {
    if {![info exists option($name)]} { puts stderr "network.tcl: unknown option $name"; exit 2 }
    set option($name) $value
}
foreach {name value} [array get option] { set [string map {- _} [string range $name 2 end]] $value }
if {[lsearch {droptail red adaptive-red} $queue] < 0} {
    puts stderr "network.tcl: --queue is droptail, red or adaptive-red"
    exit 2
}

# ---- what does not vary ------------------------------------------------------------------------
set payload 1500
set headers 40
set ground_rtt 0.025
set bottleneck_delay 0.010
set start_window 0.1      ;# each flow starts at a random instant of the first 100 ms

# ---- random numbers --------------------------------------------------------------------------
# The seed begins ns-2's sequence of streams. The default generator has the first (RED's draws, the phase
# of the senders' clocks), each purpose below one more. Streams of seeds that are small multiples of each
# other resemble each other (draw n of seed 2 is twice draw n of seed 1, modulo 1): run.py hashes.
ns-random $seed
set start_stream [new RNG]
for {set i 0} {$i <= $peers} {incr i} { set loss_stream($i) [new RNG] }
# Only where it is drawn from: the streams behind it would be others else.
if {$ack_per > 0} { for {set i 0} {$i <= $peers} {incr i} { set ack_stream($i) [new RNG] } }

# ---- losses ----------------------------------------------------------------------------------
# Two states, one step a packet (Gilbert): a run of bad packets lasts `burst` on average, a good one
# (1 - per) / per * burst, both geometric. ns-2's own TwoState draws continuous lengths and loses every
# packet that a bad run touches: more than asked for. Here whole runs are drawn when the last has ended.
Class ErrorModel/Gilbert -superclass ErrorModel/Trace

ErrorModel/Gilbert instproc setup {rng per burst} {
    $self instvar rng_ bad_mean_ good_mean_ good_ loss_
    set rng_ $rng
    set bad_mean_ $burst
    set good_mean_ [expr {(1.0 - $per) / $per * $burst}]
    # The first packet meets the stationary state.
    set good_ 0
    set loss_ 0
    if {[$rng_ uniform 0 1] < $per} {
        set loss_ [$self geometric $bad_mean_]
    } else {
        set good_ [$self geometric $good_mean_]
        set loss_ [$self geometric $bad_mean_]
    }
}

# 1, 2, ... with the given mean.
ErrorModel/Gilbert instproc geometric {mean} {
    $self instvar rng_
    if {$mean <= 1.0} { return 1 }
    set u [expr {1.0 - [$rng_ uniform 0 1]}]
    return [expr {1.0 + floor(log($u) / log(1.0 - 1.0 / $mean))}]
}

ErrorModel/Gilbert instproc read {} {
    $self instvar good_ loss_ good_mean_ bad_mean_
    set good_ [$self geometric $good_mean_]
    set loss_ [$self geometric $bad_mean_]
}

proc channel {i} {
    global per burst loss_stream
    if {$burst <= 1} {
        set model [new ErrorModel]
        $model set rate_ $per
        set draw [new RandomVariable/Uniform]
        $draw use-rng $loss_stream($i)
        $model ranvar $draw
    } else {
        set model [new ErrorModel/Gilbert]
        $model setup $loss_stream($i) $per $burst
    }
    $model unit pkt
    return $model
}

# ---- the network -----------------------------------------------------------------------------
remove-all-packet-headers
add-packet-header Flags IP TCP
set ns [new Simulator]
if {$trace ne ""} { $ns trace-all [open $trace w] }

Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ [expr {$payload + $headers}]
Queue/RED set idle_pktsize_ [expr {$payload + $headers}]
Queue/RED set thresh_ $minth
Queue/RED set maxthresh_ $maxth
Queue/RED set q_weight_ $weight
Queue/RED set linterm_ [expr {1.0 / $maxp}]
Queue/RED set gentle_ true
Queue/RED set adaptive_ [expr {$queue eq "adaptive-red"}]
Queue/RED set setbit_ [expr {$ecn != 0}]
# Marks whatever the probability; 2.35 drops above 0.1 by default.
Queue/RED set mark_p_ 1.0

set r1 [$ns node]
set r2 [$ns node]
$ns simplex-link $r1 $r2 ${rate}Mb $bottleneck_delay [expr {$queue eq "droptail" ? "DropTail" : "RED"}]
$ns simplex-link $r2 $r1 ${rate}Mb $bottleneck_delay DropTail
$ns queue-limit $r1 $r2 $limit
$ns queue-limit $r2 $r1 [expr {$reverse ? $limit : 100000}]

# Lost packets pass a counter on their way out; packets that live never meet it.
proc counter {} {
    set monitor [new QueueMonitor]
    set snoop [new SnoopQueue/Drop]
    $snoop set-monitor $monitor
    $snoop target [[Simulator instance] set nullAgent_]
    return [list $monitor $snoop]
}
# What R1 drops is counted by flow.
set drops_by_flow [new Classifier/Hash/Fid 33]
[[$ns link $r1 $r2] queue] drop-target $drops_by_flow

Agent/TCP set packetSize_ $payload
Agent/TCP set tcpip_base_hdr_size_ $headers
Agent/TCP set window_ $window
Agent/TCP set ts_option_size_ 12
Agent/TCP set ecn_ [expr {$ecn != 0}]
# ns-2's remedy for phase effects: a random time of at most so many seconds before each packet. No cell has it;
# explanations.toml says where it shows that a difference comes from events at one instant.
Agent/TCP set overhead_ $overhead
Agent/TCPSink/DelAck set interval_ 100ms
Agent/TCPSink/Sack1/DelAck set interval_ 100ms
# The initial threshold of ns-2 is window_: that of the ground flows must not follow an option.
set ground_window 10000

proc add_flow {i kind rtt lossy} {
    global ns r1 r2 tcp sink drops_by_flow queue_drops losses access delack bottleneck_delay
    global ground_window payload headers access_limit ack_per ack_stream
    set sender [$ns node]
    set receiver [$ns node]
    set leg [expr {$rtt / 2.0 - $bottleneck_delay}]
    # A reverse flow sends from behind R2 to a receiver behind R1.
    if {$kind eq "reverse"} {
        foreach {sender receiver} [list $receiver $sender] break
        set kind ground
        foreach {from to delay} [list $sender $r2 0  $r2 $sender 0  $r1 $receiver $leg  $receiver $r1 $leg] {
            $ns simplex-link $from $to 100Mb $delay DropTail
            $ns queue-limit $from $to 100000
        }
        set tcp($i) [new Agent/TCP/Sack1]
        set sink($i) [new Agent/TCPSink/Sack1]
        $tcp($i) set window_ $ground_window
        $tcp($i) set fid_ $i
        $ns attach-agent $sender $tcp($i)
        $ns attach-agent $receiver $sink($i)
        $ns connect $tcp($i) $sink($i)
        foreach [list queue_drops($i) target] [counter] break
        set slot [$drops_by_flow installNext $target]
        $drops_by_flow set-hash auto 0 0 $i $slot
        return
    }
    set rate [expr {$kind eq "ground" ? 100 : $access}]Mb
    foreach {from to capacity delay} [list $sender $r1 $rate $leg  $r1 $sender 100Mb $leg \
            $r2 $receiver 100Mb 0  $receiver $r2 100Mb 0] {
        $ns simplex-link $from $to $capacity $delay DropTail
        $ns queue-limit $from $to 100000
    }
    if {$kind ne "ground"} { $ns queue-limit $sender $r1 $access_limit }
    if {$lossy} {
        set model [channel $i]
        foreach [list losses($i) target] [counter] break
        $ns link-lossmodel $model $sender $r1
        # Only now: link-lossmodel sets a drop target of its own.
        $model drop-target $target
    }
    if {$kind ne "ground" && $ack_per > 0} {
        set model [new ErrorModel]
        $model set rate_ $ack_per
        set draw [new RandomVariable/Uniform]
        $draw use-rng $ack_stream($i)
        $model ranvar $draw
        $model unit pkt
        $ns link-lossmodel $model $r1 $sender
    }
    set ack [expr {$delack && $kind ne "ground" ? "/DelAck" : ""}]
    switch -glob $kind {
        Linux/* {
            set tcp($i) [new Agent/TCP/Linux]
            # Without timestamps the agent hands its modules an RTT that it never set.
            $tcp($i) set timestamps_ true
            set sink($i) [new Agent/TCPSink/Sack1$ack]
            $sink($i) set ts_echo_rfc1323_ true
        }
        Sack1 - ground {
            set tcp($i) [new Agent/TCP/Sack1]
            set sink($i) [new Agent/TCPSink/Sack1$ack]
        }
        default {
            set tcp($i) [new [expr {$kind eq "Tahoe" ? "Agent/TCP" : "Agent/TCP/$kind"}]]
            set sink($i) [new Agent/TCPSink$ack]
            # The agent Vegas sends packetSize_ bytes on the wire, all others that and their headers;
            # and its first packet is a full one where theirs is a SYN of 40 bytes.
            if {$kind eq "Vegas"} { $tcp($i) set packetSize_ [expr {$payload + $headers}] }
        }
    }
    if {$kind eq "ground"} { $tcp($i) set window_ $ground_window }
    $tcp($i) set fid_ $i
    $ns attach-agent $sender $tcp($i)
    $ns attach-agent $receiver $sink($i)
    $ns connect $tcp($i) $sink($i)
    if {[string match Linux/* $kind]} {
        $ns at 0 "$tcp($i) select_ca [string range $kind 6 end]"
    }
    foreach [list queue_drops($i) target] [counter] break
    set slot [$drops_by_flow installNext $target]
    $drops_by_flow set-hash auto 0 0 $i $slot
}

set flows 0
add_flow 0 $agent $rtt [expr {$per > 0}]
incr flows
for {set i 0} {$i < $peers} {incr i; incr flows} { add_flow $flows $agent $rtt [expr {$per > 0}] }
for {set i 0} {$i < $ground} {incr i; incr flows} { add_flow $flows ground $ground_rtt 0 }
for {set i 0} {$i < $reverse} {incr i; incr flows} { add_flow $flows reverse $ground_rtt 0 }
for {set i 0} {$i < $flows} {incr i} {
    set start($i) [expr {[$start_stream uniform 0 1] * $start_window}]
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at $start($i) "$ftp start"
}

# ---- the run ---------------------------------------------------------------------------------
# Segments delivered in order, without the first packet, which stands for the SYN. The sink counts bytes
# with headers, and forgets every 2^32 of them; the sender's last acknowledgement says how often it has.
proc delivered {i} {
    global sink tcp payload headers
    set acked [$tcp($i) set ack_]
    if {$acked < 0} { return 0 }
    set whole [expr {double($payload + $headers + ([$tcp($i) set timestamps_] ? 12 : 0))}]
    set first [expr {[$tcp($i) info class] eq "Agent/TCP/Vegas" ? $whole : $headers}]
    set bytes [expr {[$sink($i) set bytes_] - $first}]
    set bytes [expr {$bytes + 4294967296.0 * round(($acked * $whole - $bytes) / 4294967296.0)}]
    return [expr {round($bytes / $whole)}]
}

proc sample {file step} {
    global ns tcp
    puts $file [format "%.3f %.4f %.1f %d %d" [$ns now] [$tcp(0) set cwnd_] [$tcp(0) set ssthresh_] \
        [$tcp(0) set ack_] [delivered 0]]
    $ns at [expr {[$ns now] + $step}] "sample $file $step"
}
if {$samples ne ""} { $ns at 0.001 "sample [open $samples w] 0.1" }

proc finish {} {
    global ns flows tcp sink queue_drops losses start duration payload agent trace
    set rows {}
    for {set i 0} {$i < $flows} {incr i} {
        set segments [delivered $i]
        set goodput [expr {$segments * $payload * 8 / ($duration - $start($i))}]
        set lost [expr {[info exists losses($i)] ? [$losses($i) set pdrops_] : 0}]
        lappend rows [format {{"goodput_bps":%.1f,"delivered":%d,"sent":%d,"retransmitted":%d,"timeouts":%d,"queue_drops":%d,"channel_losses":%d}} \
            $goodput $segments [$tcp($i) set ndatapack_] [$tcp($i) set nrexmitpack_] \
            [$tcp($i) set nrexmit_] [$queue_drops($i) set pdrops_] $lost]
    }
    puts "{\"agent\":\"$agent\",\"duration_s\":$duration,\"flows\":\[[join $rows ,]\]}"
    if {$trace ne ""} { $ns flush-trace }
    exit 0
}
$ns at $duration finish
$ns run
