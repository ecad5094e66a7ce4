# One cell of Snoop for ns-2 (2.35): one flow over a lossy leg behind a base station.
#
#   ns snoop.tcl --agent Newreno --delay 0.05 --per 0.02 --snoop 1 --duration 600 --seed 1
#
#   sender --(10 Mbit/s, 10 ms)-- base ==(LAN, 2 Mbit/s)== far --(2 Mbit/s, leg delay, losses)-- receiver
#
# ns-2's Snoop is the link layer of a LAN's interface (LL/LLSnoop), and losses of a LAN cannot be told apart
# by direction. So the leg is the LAN and a link behind it: the LAN has the rate and the queue (the
# interface queue of the base, 50 packets), no delay and no losses; the link has the delay and, after its
# transmitter, the losses of data. Mac hands a packet on when its transmission begins; the link, of the same
# rate, adds the one transmission time that the leg has, and nothing waits there. On the LAN every packet has
# 64 bytes of framing; the link's delay is longer by their transmission time.
#
# Prints one line of JSON.

array set option {
    --agent Newreno  --delay 0.05  --per 0.02  --snoop 1  --limit 50  --window 10000
    --duration 600  --seed 1  --trace ""
}
foreach {name value} $argv {
    if {![info exists option($name)]} { puts stderr "snoop.tcl: unknown option $name"; exit 2 }
    set option($name) $value
}
foreach {name value} [array get option] { set [string range $name 2 end] $value }

set payload 1500
set headers 40
set wired_delay 10ms
set rate 2Mb

# The seed begins the sequence of streams; the default generator has the first.
ns-random $seed
set start_stream [new RNG]
set loss_stream [new RNG]

LanRouter set debug_ false
remove-all-packet-headers
add-packet-header Flags IP TCP Snoop Arp LL Mac
set ns [new Simulator]
if {$trace ne ""} { $ns trace-all [open $trace w] }

set sender [$ns node]
set base [$ns node]
set far [$ns node]
set receiver [$ns node]

$ns duplex-link $sender $base 10Mb $wired_delay DropTail
$ns queue-limit $sender $base 100000
$ns queue-limit $base $sender 100000
$ns duplex-link $far $receiver $rate [expr {$delay + 64 * 8 / 2e6}]s DropTail
$ns queue-limit $far $receiver 100000
$ns queue-limit $receiver $far 100000

Mac set bandwidth_ $rate
Mac set delay_ 0
Channel set delay_ 0
set lan [$ns make-lan [list $far] $rate 0ms LL Queue/DropTail Mac Channel Phy/WiredPhy 100000]
set ll [expr {$snoop ? "LL/LLSnoop" : "LL"}]
$lan addNode [list $base] $rate 0ms $ll Queue/DropTail Mac Phy/WiredPhy false $limit

proc counter {} {
    set monitor [new QueueMonitor]
    set watch [new SnoopQueue/Drop]
    $watch set-monitor $monitor
    $watch target [[Simulator instance] set nullAgent_]
    return [list $monitor $watch]
}
set model [new ErrorModel]
$model set rate_ $per
$model unit pkt
set draw [new RandomVariable/Uniform]
$draw use-rng $loss_stream
$model ranvar $draw
foreach [list losses target] [counter] break
$ns link-lossmodel $model $far $receiver
$model drop-target $target
# ACKs of the base's own interface never fill its queue: all drops there are data.
foreach [list drops target] [counter] break
[[$lan set lanIface_($base)] set ifq_] drop-target $target

Agent/TCP set packetSize_ $payload
Agent/TCP set tcpip_base_hdr_size_ $headers
Agent/TCP set window_ $window
set tcp [new Agent/TCP/$agent]
set sink [expr {$agent eq "Sack1" ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
$ns attach-agent $sender $tcp
$ns attach-agent $receiver $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set start [expr {[$start_stream uniform 0 1] * 0.1}]
$ns at $start "$ftp start"

proc finish {} {
    global ns tcp sink losses drops start duration payload headers trace
    # Without the first packet, which stands for the SYN; the sink counts headers.
    set segments [expr {round(([$sink set bytes_] - $headers) / double($payload + $headers))}]
    puts [format {{"goodput_bps":%.1f,"delivered":%d,"sent":%d,"retransmitted":%d,"timeouts":%d,"queue_drops":%d,"channel_losses":%d}} \
        [expr {$segments * $payload * 8 / ($duration - $start)}] $segments [$tcp set ndatapack_] \
        [$tcp set nrexmitpack_] [$tcp set nrexmit_] [$drops set pdrops_] [$losses set pdrops_]]
    if {$trace ne ""} { $ns flush-trace }
    exit 0
}
$ns at $duration finish
$ns run
