/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the kernel leaves to a control that has cong_control: the window in
 * recovery and at its end.
 *
 * Source: RFC 9937 (proportional rate reduction). While more is in flight than
 * ssthresh, sending goes on in the proportion ssthresh / flight at the loss;
 * below, the window grows back to ssthresh as in slow start while ACKs advance
 * and show no further loss, else by what was delivered. When recovery ends, cwnd
 * is ssthresh or, with the recovery fix of RFC 3782 (section 3, step 5, option
 * 1), no more than what is in flight plus one segment. The ACK that ends it
 * grows nothing more.
 *
 * The kernel counts what is sent meanwhile (prr_out) whoever sets the window.
 */
#ifndef BENTPIPE_RECOVERY_H
#define BENTPIPE_RECOVERY_H

struct recovery {
	/* Segments in flight when it began, RecoverFS of RFC 9937. */
	__u32 flight;
	/* Segments delivered since. */
	__u32 delivered;
	/* snd_una at the last ACK. */
	__u32 una;
	__u8 reduces;	/* fast recovery, or CWR */
	__u8 begins;	/* the ACK that began it has not been counted */
	__u8 ended;	/* this ACK ended it */
	__u8 reserved;
};

static INLINE void recovery_begin(const struct sock *sk, struct recovery *recovery)
{
	recovery->reduces = 0;
	recovery->begins = 0;
	recovery->ended = 0;
	recovery->reserved = 0;
	recovery->una = tcp_sk(sk)->snd_una;
}

/* For set_state. */
static INLINE void recovery_state(struct sock *sk, struct window *window,
				  struct recovery *recovery, __u8 state, int fix)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u8 reduces = state == TCP_CA_CWR || state == TCP_CA_RECOVERY;

	if (reduces && !recovery->reduces) {
		recovery->flight = tp->packets_out > tp->sacked_out ?
			tp->packets_out - tp->sacked_out : 0;
		recovery->delivered = 0;
		recovery->begins = 1;
	} else if (recovery->reduces && state <= TCP_CA_DISORDER) {
		__u32 cwnd = tp->snd_ssthresh;

		if (fix)
			cwnd = min_u32(cwnd, in_flight(sk) + 1);
		window_set(sk, window, (__u64)cwnd << 32);
		recovery->ended = 1;
	}
	recovery->reduces = reduces;
}

/* For undo_cwnd: the window comes back, and stays when the state is Open. */
static INLINE void recovery_undone(struct recovery *recovery)
{
	recovery->reduces = 0;
}

/* For cong_control: true if this ACK belonged to recovery. */
static INLINE int recovery_took(struct sock *sk, struct window *window,
				struct recovery *recovery,
				const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 ssthresh = tp->snd_ssthresh;
	__u32 arrived = rs->acked_sacked;
	__u32 sent = tp->prr_out;
	__u32 flight = in_flight(sk);
	int safe = tp->snd_una != recovery->una && rs->losses <= 0;
	__u32 owed, count;

	recovery->una = tp->snd_una;
	if (!recovery->reduces) {
		int ended = recovery->ended;

		recovery->ended = 0;
		return ended;
	}
	if (recovery->begins) {
		recovery->flight += arrived;
		recovery->begins = 0;
		safe = 0;
	}
	recovery->delivered += arrived;
	if (flight > ssthresh) {
		__u64 share = (__u64)recovery->delivered * ssthresh;
		__u32 divisor = max_u32(recovery->flight, 1);
		__u64 target = (share + divisor - 1) / divisor;

		count = target > sent ? target - sent : 0;
	} else {
		owed = recovery->delivered > sent ? recovery->delivered - sent : 0;
		count = max_u32(owed, arrived) + (safe ? 1 : 0);
		count = min_u32(count, ssthresh - flight);
	}
	if (!sent)
		count = max_u32(count, 1);
	window_set(sk, window, (__u64)(flight + count) << 32);
	return 1;
}

#endif
