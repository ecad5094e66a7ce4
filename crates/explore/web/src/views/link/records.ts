// Generated from the records of the server: see crates/explore/src/link/lines.rs.
// Times are in seconds unless the name says otherwise, shares are fractions.

export interface RowFacts {
  /** index of the row, which names it */ readonly row: number;
  /** proxy at the gateway */ readonly pep: string;
  /** congestion control and what is changed around it */ readonly transport: string;
  /** what it is, in a line */ readonly about: string;
  /** how far it is from being used */ readonly availability: string;
  /** it can be switched on today */ readonly deployable: boolean;
}

export interface Standing {
  /** index of the row */ readonly row: number;
  /** index of the size */ readonly size: number;
  /** what its runs came to */ readonly cell: CellRecord;
  /** what the row saves over the baseline, of all sizes */ readonly gain: Gain | null;
  /** what users of the default lose beside it, of all sizes */ readonly others: Harm | null;
  /** what the runs say of that: `hurts`, `may hurt`, `helps` or `none` */ readonly effect: string | null;
  /** numbers as the command prints them */ readonly shown: Texts;
}

export interface CellRecord {
  /** size of a download, or of a page on average */ readonly size_bytes: number;
  /** time that a user waits, mean over the runs */ readonly time_s: Spread | null;
  /** that time for each activity of the traffic */ readonly times_s: Readonly<Record<string, Spread | null>>;
  /** time that one in ten exceeds */ readonly slow_s: number | null;
  /** runs in which a user's traffic did not end */ readonly unfinished_runs: number;
  /** rate of the user in the middle */ readonly median_user_bps: number | null;
  /** rate of the slowest tenth of the users */ readonly worst_tenth_bps: number | null;
  /** 1 if all users get the same rate */ readonly jain_index: number | null;
  /** time that 95% of the pages do not exceed */ readonly p95_page_s: number | null;
  /** mean time until a browser can draw a page of several objects */ readonly render_s?: number;
  /** mean time of the small objects beside the pages */ readonly object_s: number | null;
  /** time before the video begins */ readonly video_startup_s: number | null;
  /** times that the video stops */ readonly video_stalls: number | null;
  /** how long it stands still */ readonly video_stall_s: number | null;
  /** part of the packets of calls that were lost, or late by more than 100 ms */ readonly call_missed_share: number | null;
  /** payload of all users over the time that they were there */ readonly goodput_bps: number;
  /** packets sent again / packets sent */ readonly resent_share: number;
  /** 95th percentile of the wait at the link */ readonly p95_queueing_delay_s: number;
  /** retransmission timeouts per user */ readonly timeouts_per_user: number;
  /** packets dropped by the queue before the link */ readonly queue_drops: number;
  /** largest congestion window */ readonly max_cwnd_segments: number;
  /** runs that it rests on */ readonly runs: number;
  /** runs beside as many users of what others run */ readonly shared_runs: number;
}

export interface Spread {
  /** arithmetic mean */ readonly mean: number;
  /** half of the width of its 95% interval; null for a single run */ readonly ci95: number | null;
  /** of the runs; null for a single one */ readonly standard_deviation: number | null;
  /** the run in the middle */ readonly median: number;
  /** smallest */ readonly min: number;
  /** largest */ readonly max: number;
  /** runs that ended */ readonly runs: number;
}

export interface Gain {
  /** mean; negative if time is lost */ readonly share: number;
  /** half of the width of its 95% interval, by differences with the same seeds; null for a single run */ readonly ci95: number | null;
  /** it is shown to be at least this, by the rule of the verdict (1% of error over all looks); null of few runs */ readonly least: number | null;
  /** it is shown to be at most this */ readonly most: number | null;
  /** runs that it rests on */ readonly runs: number;
}

export interface Harm {
  /** mean; negative if others are faster */ readonly time_lost_share: number;
  /** half of the width of its 95% interval; null for a single run */ readonly ci95: number | null;
  /** it is shown to be at least this, by the rule of the verdict; null of few runs */ readonly time_lost_share_least: number | null;
  /** it is shown to be at most this */ readonly time_lost_share_most: number | null;
  /** mean time of an other user beside the baseline, seconds, of the smallest size and first activity */ readonly time_before_s: number;
  /** mean time of that user beside the setting, seconds */ readonly time_beside_it_s: number;
  /** runs that it rests on */ readonly runs: number;
}

export interface Texts {
  /** mean time */ readonly time: string | null;
  /** half of its 95% interval */ readonly ci95: string | null;
  /** time that one in ten exceeds */ readonly slow: string | null;
  /** what others lose */ readonly others: string | null;
  /** what the row saves */ readonly gain: string | null;
}

export interface AnswerRecord {
  /** the link */ readonly link: LinkRecord;
  /** the hosts: `linux` or `rfc` */ readonly hosts: string;
  /** what the users do */ readonly traffic: string;
  /** how many users there are */ readonly users: number;
  /** terminals behind which they are, each with a return link of its own, where there are several */ readonly terminals?: number;
  /** what half of them run, where that was asked */ readonly beside: string | null;
  /** users of the runs in which half of them run the default */ readonly users_shared: number;
  /** traffic that no transport controls */ readonly background: string | null;
  /** time over which starts are spread */ readonly stagger_s: number;
  /** sizes of downloads, or of pages on average */ readonly sizes_bytes: readonly number[];
  /** bitrate of the videos */ readonly video_bitrate_bps: number;
  /** time at the full rate of the link for each size; null where it would never end */ readonly ideal_times_s: readonly (number | null)[];
  /** seed of the first run */ readonly seed: number;
  /** most runs that a row has */ readonly runs: number;
  /** packets that all runs took over links */ readonly packets: number;
  /** the queues that were compared; the first is the one that the link has today */ readonly queues: readonly string[];
  /** what follows */ readonly verdict: VerdictRecord;
  /** each proxy with each transport, the fastest of each proxy first */ readonly rows: readonly RowRecord[];
  /** what changes of the link cost */ readonly changes_cost: readonly ChangeRecord[];
  /** whether the advice holds beside the question, where that was asked */ readonly robustness: RobustRecord | null;
  /** times by the time of the beginning, where that was asked */ readonly by_time: TimesRecord | null;
  /** what other numbers must have in common with these */ readonly comparable_only_with: readonly string[];
}

export interface LinkRecord {
  /** rate towards the users */ readonly rate_bps: number;
  /** rate back to the sender */ readonly return_rate_bps: number;
  /** round-trip propagation time; over satellites its mean */ readonly rtt_ns: number;
  /** share of the packets that the channel loses */ readonly packet_error_rate: number;
  /** that share was not given: it is what such a link usually loses */ readonly loss_is_assumed: boolean;
  /** packets that it loses in a row, on average; null where losses are independent */ readonly mean_burst_packets: number | null;
  /** how the one-way delay varies, each way; null where it does not */ readonly jitter: string | null;
  /** the queue that the link has today, as given */ readonly queue: string;
  /** what it holds at most */ readonly queue_bytes: number;
  /** bandwidth-delay product */ readonly bdp_bytes: number;
  /** round trip between the server and the gateway, where they are two nodes */ readonly server_rtt_ns: number | null;
  /** how the link changes with time, if it does */ readonly course: ProfileRecord | null;
}

export interface ProfileRecord {
  /** `orbit`, `trace` or `fade` */ readonly kind: string;
  /** the orbit, file or fade that was named */ readonly name: string;
  /** what it is, in words */ readonly text: string;
  /** what one should know about it, a sentence each */ readonly notes: readonly string[];
  /** mean rate towards the users */ readonly mean_rate_bps: number;
  /** smallest round-trip propagation time while there is a path */ readonly min_rtt_ns: number;
  /** its mean */ readonly mean_rtt_ns: number;
  /** its maximum */ readonly max_rtt_ns: number;
  /** share of the full packets that the trace loses */ readonly lost_share: number;
  /** how often the path changes */ readonly path_changes_per_hour: number;
  /** share of the time with a path */ readonly availability: number;
  /** the longest time without a path */ readonly longest_outage_s: number;
  /** runs begin within this time */ readonly span_s: number;
}

export interface VerdictRecord {
  /** the recommended row; null if nothing ended */ readonly pick: RowName | null;
  /** the row that gains are held against */ readonly baseline: RowName;
  /** nothing is to be changed */ readonly keep: boolean;
  /** what the pick gains over the baseline */ readonly gain: Gain | null;
  /** what users of the default lose beside the pick */ readonly others: Harm | null;
  /** rows that are as fast as the pick and no easier to deploy */ readonly as_good: readonly RowName[];
  /** rows that are faster than the pick and not recommended */ readonly rejected: readonly RejectedRecord[];
  /** what the pick costs */ readonly costs: readonly CostRecord[];
  /** sizes for which another row is better */ readonly by_size: readonly BySizeRecord[];
  /** how sure it is: `exact`, `clear`, `borderline` or `open` */ readonly certainty: string;
  /** what a verdict that is not clear stands against */ readonly against: AgainstRecord | null;
  /** sentences; the first is the headline */ readonly text: readonly string[];
  /** how the pick is switched on */ readonly switch_on: SwitchOn;
  /** how the queue of the pick is switched on; nothing for the one of today */ readonly switch_on_queue: SwitchOn;
}

export interface RowName {
  /** proxy at the gateway */ readonly pep: string;
  /** congestion control and what is changed around it */ readonly transport: string;
}

export interface RejectedRecord {
  /** proxy at the gateway */ readonly pep: string;
  /** congestion control and what is changed around it */ readonly transport: string;
  /** why it is not */ readonly why: string;
}

export interface CostRecord {
  /** `unfinished`, `harm`, `background`, `waiting`, `waste` or `slow` */ readonly kind: string;
  /** runs that did not end */ readonly count?: number;
  /** of so many */ readonly of?: number;
  /** share by which others are slowed down */ readonly time_lost_share?: number;
  /** share of the background traffic that is lost */ readonly lost_share?: number;
  /** wait of packets of others at the link, 95th percentile */ readonly p95_wait_s?: number;
  /** share of its packets that are sent again */ readonly resent_share?: number;
  /** time that one in ten exceeds */ readonly slow_s?: number;
  /** that share with the baseline */ readonly before?: number;
  /** that time with the baseline */ readonly before_s?: number | null;
}

export interface BySizeRecord {
  /** proxy at the gateway */ readonly pep: string;
  /** congestion control and what is changed around it */ readonly transport: string;
  /** the size */ readonly size_bytes: number;
  /** what it gains over the pick */ readonly gain: Gain;
}

export interface AgainstRecord {
  /** proxy at the gateway */ readonly pep: string;
  /** congestion control and what is changed around it */ readonly transport: string;
  /** what it gains over the baseline */ readonly gain: Gain | null;
  /** what users of the default lose beside it */ readonly others: Harm | null;
  /** what decides between the two: `gain`, `harm`, `waste`, `loss of an activity`, `unfinished runs` or `faster` */ readonly decides: string;
  /** runs that would probably tell; null unless it is open */ readonly needed: Needed | null;
}

export interface Needed {
  /** at least so many runs */ readonly least_runs: number;
  /** so many are enough in four of five cases */ readonly runs: number;
  /** packets that those of all open rows take */ readonly packets: number;
  /** what `--time` takes to make them, all runs so far included, seconds */ readonly time_s: number;
}

export interface SwitchOn {
  /** where the commands are typed, and what else must be there, in sentences; empty if there is nothing to do */ readonly text: string;
  /** the commands, each a line */ readonly commands: readonly string[];
}

export interface RowRecord {
  /** proxy at the gateway */ readonly pep: string;
  /** congestion control and what is changed around it, with the queue unless it is the first */ readonly transport: string;
  /** queue before the link */ readonly queue: string;
  /** what it is, in a line */ readonly about: string;
  /** how far it is from being used */ readonly availability: string;
  /** true if all of it can be switched on today */ readonly deployable: boolean;
  /** how it is switched on */ readonly switch_on: SwitchOn;
  /** how the queue before the link is switched on; nothing for the one of today */ readonly switch_on_queue: SwitchOn;
  /** time saved against the default */ readonly gain: Gain | null;
  /** time that users of the default lose beside it */ readonly others: Harm | null;
  /** one for each size */ readonly cells: readonly CellRecord[];
  /** segments that a connection begins with */ readonly initial_window_segments: number;
  /** largest window that the receiver advertises */ readonly receive_buffer_bytes: number;
  /** payload of a full segment */ readonly mss_bytes: number;
  /** segments that one acknowledgement is for */ readonly ack_count: number;
  /** whose rules the hosts follow */ readonly host_profile: string;
}

export interface ChangeRecord {
  /** proxy at the gateway */ readonly pep: string;
  /** congestion control and what is changed around it */ readonly transport: string;
  /** mean time on the link as it changes */ readonly time_s: number;
  /** mean time on a link that keeps its mean */ readonly time_without_changes_s: number;
  /** retransmission timeouts on the link as it changes */ readonly timeouts_per_user: number;
  /** those on a link that keeps its mean */ readonly timeouts_per_user_without_changes: number;
  /** runs of each */ readonly runs: number;
}

export interface RobustRecord {
  /** it in a sentence */ readonly text: string;
  /** the rows that were run for it */ readonly rows: readonly RowName[];
  /** one for each quantity */ readonly dimensions: readonly SensitivityRecord[];
}

export interface SensitivityRecord {
  /** `loss`, `queue` or `users` */ readonly dimension: string;
  /** the value that was asked */ readonly asked: string;
  /** for half of it */ readonly half: NeighbourRecord | null;
  /** for twice of it */ readonly twice: NeighbourRecord | null;
  /** towards smaller values */ readonly below: TurnRecord;
  /** towards larger values */ readonly above: TurnRecord;
}

export interface NeighbourRecord {
  /** the value as it is typed */ readonly value: string;
  /** that value over the one that was asked; where nothing is lost, over 0.001% */ readonly factor: number;
  /** the row that is recommended there, or leads; null if nothing ended */ readonly pick: RowName | null;
  /** what that gains over the baseline */ readonly gain: Gain | null;
  /** how sure it is: `exact`, `clear`, `borderline` or `open` */ readonly certainty: string;
  /** true if the advice is shown to be the same, false if another is shown, null if the runs do not tell */ readonly holds: boolean | null;
  /** the advice in a word or two */ readonly text: string;
}

export interface TurnRecord {
  /** `never`, `between`, `open` or `unknown` */ readonly kind: string;
  /** the last value at which it is shown to hold; null for the one that was asked */ readonly holds: NeighbourRecord | null;
  /** where it turns, in words */ readonly text: string;
  /** the first value at which another is shown */ readonly turned: NeighbourRecord | null;
}

export interface TimesRecord {
  /** the link from one beginning to the next */ readonly link: readonly HourRecord[];
  /** each proxy with each transport */ readonly rows: readonly TimesOfRow[];
}

export interface HourRecord {
  /** when it begins */ readonly begins_s: number;
  /** mean rate towards the users */ readonly rate_bps: number;
  /** mean round-trip propagation time while there is a path */ readonly rtt_ns: number;
  /** changes of path */ readonly path_changes: number;
  /** share of the time with a path */ readonly availability: number;
}

export interface TimesOfRow {
  /** proxy at the gateway */ readonly pep: string;
  /** congestion control and what is changed around it */ readonly transport: string;
  /** the run in the middle; null if it did not end */ readonly median_s: number | null;
  /** mean of the slowest tenth of the runs; null if one did not end */ readonly worst_tenth_s: number | null;
  /** mean time of a run's users for each beginning; null if one did not end */ readonly times_s: readonly (number | null)[];
  /** retransmission timeouts for each beginning */ readonly timeouts_per_user: readonly number[];
}
