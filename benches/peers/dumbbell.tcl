# The dumbbell for ns-2 (2.35): N persistent TCP SACK flows over one long bottleneck.
#
#   ns dumbbell.tcl --flows 10 --rate 10Mbit/s --loss 0.01 --duration 60s
#
# sender_i --(5 ms)-- R1 --(rate, 290 ms)-- R2 --(5 ms)-- receiver_i
#
# Prints one line of JSON. README.md says how packet hops are counted.
# --routing manual replaces ns-2's static route computation, by far the largest part of its set-up, by
# routes that this script writes down itself. --scheduler Splay is the fastest of ns-2's four.
# For checks only: --trace FILE, --headers all.

# CPU time of this process in seconds. schedstat counts nanoseconds, but the kernel brings a running
# process's figure up to date only at its clock ticks and when it leaves the processor: so sleep for
# a moment first. stat, for kernels without schedstat, counts ticks of 10 ms.
proc cpu_seconds {} {
    after 1
    if {![catch {open /proc/self/schedstat} file]} {
        set fields [gets $file]
        close $file
        if {[lindex $fields 0] > 0} { return [expr {[lindex $fields 0] / 1e9}] }
    }
    set file [open /proc/self/stat]
    # The second field is the command in brackets, which may hold blanks: read on after it.
    set fields [lrange [lindex [split [read $file] ")"] end] 0 end]
    close $file
    return [expr {([lindex $fields 11] + [lindex $fields 12]) / 100.0}]
}

# ---- options ---------------------------------------------------------------------------------
array set option {
    --flows 1  --rate 10Mbit/s  --loss 0  --duration 60s  --seed 1
    --trace ""  --headers stripped  --scheduler Splay  --routing static
}
foreach {name value} $argv {
    if {![info exists option($name)]} { puts stderr "dumbbell.tcl: unknown option $name"; exit 2 }
    set option($name) $value
}
set flows $option(--flows)
set loss $option(--loss)
set seed $option(--seed)
if {[lsearch {static manual} $option(--routing)] < 0} {
    puts stderr "dumbbell.tcl: --routing is static or manual"
    exit 2
}
if {![regexp {^([0-9.]+)Mbit/s$} $option(--rate) all rate_mbps]
        || ![regexp {^([0-9.]+)s$} $option(--duration) all duration]} {
    puts stderr "dumbbell.tcl: write --rate as 10Mbit/s and --duration as 60s"
    exit 2
}

# ---- the scenario's constants: the same in dumbbell.cc ------------------------------------------
set wire_bytes 1500
set payload_bytes 1460
set round_trip_s 0.6
set bdp_packets [expr {int($rate_mbps * 1e6 * $round_trip_s / (8 * $wire_bytes))}]
# Windows never limit: 4 BDP for one flow, 16 times the fair share among many, at least 100 packets.
set window_packets [expr {max(100, min(4 * $bdp_packets, 16 * $bdp_packets / $flows))}]
set access_rate [expr {10 * $rate_mbps}]Mb
set access_queue_packets [expr {10 * $bdp_packets + 100000}]

# ---- the network -----------------------------------------------------------------------------
if {$option(--headers) ne "all"} {
    remove-all-packet-headers
    add-packet-header Flags IP TCP
}
ns-random $seed
set ns [new Simulator]
$ns use-scheduler $option(--scheduler)
if {$option(--routing) eq "manual"} { $ns rtproto Manual }
if {$option(--trace) ne ""} { $ns trace-all [open $option(--trace) w] }

set r1 [$ns node]
set r2 [$ns node]
$ns simplex-link $r1 $r2 ${rate_mbps}Mb 290ms DropTail
$ns simplex-link $r2 $r1 ${rate_mbps}Mb 290ms DropTail
$ns queue-limit $r1 $r2 $bdp_packets
$ns queue-limit $r2 $r1 $access_queue_packets

# Only with manual routing: the way from `via[0]` to the last node of `via`, hop by hop.
proc add_route {via} {
    set ns [Simulator instance]
    foreach from [lrange $via 0 end-1] next [lrange $via 1 end] {
        $from add-route [[lindex $via end] id] [[$ns link $from $next] head]
    }
}

# Lost packets go through a counter on their way out; packets that live never meet it.
proc counting_drop_target {} {
    set monitor [new QueueMonitor]
    set snoop [new SnoopQueue/Drop]
    $snoop set-monitor $monitor
    $snoop target [[Simulator instance] set nullAgent_]
    return [list $monitor $snoop]
}
foreach {queue_monitor target} [counting_drop_target] break
[[$ns link $r1 $r2] queue] drop-target $target
if {$loss > 0} {
    # After the link: a packet that is lost here has used the transmitter but does not arrive.
    set channel [new ErrorModel]
    $channel unit pkt
    $channel set rate_ $loss
    set draw [new RandomVariable/Uniform]
    $draw use-rng [set rng [new RNG]]
    $rng seed [expr {1000 + $seed}]
    $channel ranvar $draw
    foreach {channel_monitor target} [counting_drop_target] break
    $ns link-lossmodel $channel $r1 $r2
    # Only now: link-lossmodel sets a drop target of its own.
    $channel drop-target $target
}

Agent/TCP set packetSize_ $payload_bytes
Agent/TCP set window_ $window_packets
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 1.0
Agent/TCP set ecn_ 0
for {set i 0} {$i < $flows} {incr i} {
    set sender [$ns node]
    set receiver [$ns node]
    foreach {from to} [list $sender $r1  $r2 $receiver] {
        $ns simplex-link $from $to $access_rate 5ms DropTail
        $ns simplex-link $to $from $access_rate 5ms DropTail
        $ns queue-limit $from $to $access_queue_packets
        $ns queue-limit $to $from $access_queue_packets
    }
    if {$option(--routing) eq "manual"} {
        add_route [list $sender $r1 $r2 $receiver]
        add_route [list $receiver $r2 $r1 $sender]
    }
    set tcp($i) [new Agent/TCP/Sack1]
    set sink($i) [new Agent/TCPSink/Sack1]
    $ns attach-agent $sender $tcp($i)
    $ns attach-agent $receiver $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [expr {double($i) / $flows}] "$ftp start"
}

# ---- the run ---------------------------------------------------------------------------------
proc finish {} {
    global ns option flows rate_mbps loss duration payload_bytes wire_bytes
    global tcp sink queue_monitor channel_monitor setup_cpu_s
    set run_cpu_s [expr {[cpu_seconds] - $setup_cpu_s}]
    set data 0.0; set acks 0.0; set delivered 0.0
    for {set i 0} {$i < $flows} {incr i} {
        set data [expr {$data + [$tcp($i) set ndatapack_]}]
        set acks [expr {$acks + [$tcp($i) set nackpack_]}]
        # The highest acknowledged segment, as the sender knows it: half a round trip behind.
        set delivered [expr {$delivered + [$tcp($i) set ack_]}]
    }
    set queue_drops [$queue_monitor set pdrops_]
    set channel_losses [expr {$loss > 0 ? [$channel_monitor set pdrops_] : 0}]
    # Each ACK that came back closed a loop of 6 hops; each packet lost at R1's queue or on R1-R2 had
    # crossed one link; those still under way at the end have crossed 2.5 on average.
    set under_way [expr {$data - $acks - $queue_drops - $channel_losses}]
    set hops [expr {6 * $acks + $queue_drops + $channel_losses + 2.5 * $under_way}]
    set goodput [expr {$delivered * $payload_bytes * 8 / $duration / 1e6}]
    puts [format {{"peer":"ns-2","routing":"%s","flows":%d,"rate_mbps":%s,"loss":%s,"duration_s":%s,"data_packets":%.0f,"ack_packets":%.0f,"packet_hops":%.0f,"setup_cpu_s":%.6f,"run_cpu_s":%.6f,"goodput_mbps":%.4f,"queue_drops":%d,"channel_losses":%d}} \
        $option(--routing) $flows $rate_mbps $loss $duration $data $acks $hops $setup_cpu_s $run_cpu_s $goodput \
        $queue_drops $channel_losses]
    if {$option(--trace) ne ""} { $ns flush-trace }
    exit 0
}
# `run` computes the routes before the first event, so this event ends the set-up.
$ns at 0.0 {set setup_cpu_s [cpu_seconds]}
$ns at $duration finish
$ns run
