# What an agent of ns-2.35 sends over one link that drops packets by their ordinal number.
#
#   ns trace.tcl --agent Sack1 --drops "17 42" > sack1.trace
#
# Prints the settings, then a line for every instant at which the agent sends or moves its window:
# seconds since the start, segments sent, cwnd, ssthresh. ../ns2.rs holds our endpoint against it.
#
# Westwood and WestwoodNR (UCLA's) and WestwoodBari (UCLA's with the differences of Bari's published file) are
# not part of ns-2.35: their traces were made by an ns-2 that has them, with the settings of UCLA's release.

array set option {
    --agent Sack1  --drops ""  --delay 0.05  --rate 2  --duration 60  --window 64  --delack 0
    --limit 100000  --seed 1  --timestamps 0  --packets 0  --filter 3  --newreno 0
}
foreach {name value} $argv {
    if {![info exists option($name)]} { puts stderr "trace.tcl: unknown option $name"; exit 2 }
    set option($name) $value
}
foreach {name value} [array get option] { set [string range $name 2 end] $value }

remove-all-packet-headers
add-packet-header Flags IP TCP
set ns [new Simulator]
Agent/TCP set window_ $window
Agent/TCP set packetSize_ 1000
Agent/TCP set ts_option_size_ 12

# The agent's clock ticks at a random offset. It is drawn when the agent is made (by Vegas twice) and
# again when the run begins.
$defaultRNG seed $seed
$defaultRNG uniform 0 1
if {$agent eq "Vegas"} { $defaultRNG uniform 0 1 }
set boot [expr {[$defaultRNG uniform 0 1] * 0.01}]
$defaultRNG seed $seed
if {[string match Linux/* $agent]} {
    set tcp [new Agent/TCP/Linux]
    $tcp set timestamps_ true
    set timestamps 1
} else {
    set tcp [new Agent/TCP[expr {$agent eq "Tahoe" ? "" : "/$agent"}]]
    if {$agent eq "Vegas"} { $tcp set packetSize_ 1040 }
    if {[string match Westwood* $agent]} { $tcp set filter_type_ $filter }
    if {$newreno} { $tcp set newreno_changes1_ 1; $tcp set partial_window_deflation_ 1 }
    $tcp set timestamps_ [expr {$timestamps ? "true" : "false"}]
}
set kind [expr {$agent eq "Sack1" || [string match Linux/* $agent] ? "/Sack1" : ""}]
set sink [new Agent/TCPSink$kind[expr {$delack ? "/DelAck" : ""}]]
if {[string match Linux/* $agent]} { $sink set ts_echo_rfc1323_ true }

set a [$ns node]
set b [$ns node]
foreach {from to} [list $a $b $b $a] {
    $ns simplex-link $from $to ${rate}Mb $delay DropTail
    $ns queue-limit $from $to [expr {$from == $a ? $limit : 100000}]
}
if {$drops ne ""} {
    set model [new ErrorModel/List]
    $model unit pkt
    eval $model droplist $drops
    $ns link-lossmodel $model $a $b
}
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
if {[string match Linux/* $agent]} { $ns at 0 "$tcp select_ca [string range $agent 6 end]" }
set path "trace-[pid].tmp"
set file [open $path w]
$ns trace-queue $a $b $file
$tcp attach $file
$tcp trace cwnd_
$tcp trace ssthresh_

set start 1.0
set ftp [new Application/FTP]
$ftp attach-agent $tcp
if {$packets} { $ns at $start "$tcp advanceby $packets" } else { $ns at $start "$ftp start" }

proc finish {} {
    global ns file path start option boot agent timestamps
    $ns flush-trace
    close $file
    puts "boot $boot"
    puts "timestamps $timestamps"
    if {[string match Westwood* $agent]} { puts "filter $option(--filter)\nnewreno $option(--newreno)" }
    foreach name {agent drops delay rate duration window delack limit packets seed} { puts "$name $option(--$name)" }
    puts "---"
    set file [open $path r]
    set now -1; set sent {}; set cwnd 0; set ssthresh 0; set before {}
    while {[gets $file line] >= 0} {
        if {[string index $line 0] eq "+"} {
            if {[lindex $line 4] ne "tcp"} continue
            set at [lindex $line 1]
        } elseif {[lsearch {cwnd_ ssthresh_} [lindex $line 5]] >= 0} {
            set at [lindex $line 0]
        } else {
            continue
        }
        if {$at > $now + 0.00002} {
            emit
            set now $at
        }
        if {[string index $line 0] eq "+"} {
            lappend sent [lindex $line 10]
        } else {
            set [string range [lindex $line 5] 0 end-1] [lindex $line 6]
        }
    }
    emit
    file delete $path
    exit 0
}
proc emit {} {
    upvar now now sent sent cwnd cwnd ssthresh ssthresh before before start start
    if {$now >= $start - 0.001 && ($sent ne {} || $before ne "$cwnd $ssthresh")} {
        puts [format "%.5f %s %.3f %d" [expr {$now - $start}] [expr {$sent eq {} ? "-" : [join $sent ,]}] $cwnd $ssthresh]
    }
    set before "$cwnd $ssthresh"
    set sent {}
}
$ns at [expr {$start + $duration}] finish
$ns run
