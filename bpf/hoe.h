/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Hoe's estimate: the initial ssthresh from the spacing of the first ACKs.
 *
 * Source: Hoe, SIGCOMM 1996. The largest of (segments acknowledged by the later
 * ACK) / gap over neighbouring ACKs of one round, as soon as a round has two
 * gaps, refined until that round ends; times the smallest RTT, at least 2. Losses
 * and timeouts end it. Times are microseconds.
 */
#ifndef BENTPIPE_HOE_H
#define BENTPIPE_HOE_H

enum { HOE_WAITING, HOE_REFINING, HOE_DONE };

struct hoe {
	/* Smallest time between segments, 2^-16 us; 0 before one. */
	__u64 spacing;
	/* Time of the last ACK. */
	__u32 last;
	/* The ssthresh that was set; 0 before. */
	__u32 applied;
	__u8 stage;
	__u8 gaps;
	__u8 seen; /* an ACK has come */
	__u8 reserved;
	__u32 unused;
};

static INLINE void hoe_begin(struct hoe *hoe)
{
	hoe->spacing = 0;
	hoe->last = 0;
	hoe->applied = 0;
	hoe->stage = HOE_WAITING;
	hoe->gaps = 0;
	hoe->seen = 0;
	hoe->reserved = 0;
	hoe->unused = 0;
}

/* No further samples. Without an estimate so far there will be none. */
static INLINE void hoe_stop(struct hoe *hoe)
{
	if (hoe->stage == HOE_WAITING)
		hoe->spacing = 0;
	hoe->stage = HOE_DONE;
}

/* Segments that fit the path within `rtt`; 0 while unknown. */
static INLINE __u64 hoe_product(const struct hoe *hoe, __u32 rtt)
{
	if (hoe->stage == HOE_WAITING)
		return 0;
	return quotient((__u64)rtt << 32, hoe->spacing);
}

static INLINE void hoe_apply(struct sock *sk, struct hoe *hoe, __u32 min_rtt)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 fits = quotient((__u64)min_rtt << 16, hoe->spacing);
	__u32 ssthresh = min_u64(max_u64(fits, 2), WINDOW_LIMIT);
	int ours = hoe->applied && tp->snd_ssthresh == hoe->applied;

	if (ssthresh < tp->snd_ssthresh || ours) {
		tp->snd_ssthresh = ssthresh;
		hoe->applied = ssthresh;
	}
}

/* An ACK that advances by `acked` segments, outside recovery. `sets` says whether
 * ssthresh follows the estimate. */
static INLINE void hoe_take(struct sock *sk, struct hoe *hoe, __u32 acked,
			    int round_start, __u32 min_rtt, int sets)
{
	__u32 now = tcp_sk(sk)->tcp_mstamp;
	__u32 gap = now - hoe->last;
	__u64 spacing;
	int closer;

	if (hoe->stage == HOE_DONE)
		return;
	if (round_start || !hoe->seen) {
		hoe->seen = 1;
		if (hoe->stage == HOE_REFINING) {
			hoe->stage = HOE_DONE;
			return;
		}
		hoe->gaps = 0;
		hoe->spacing = 0;
		hoe->last = now;
		return;
	}
	if (!gap || !acked)
		return;
	hoe->last = now;
	if (hoe->gaps < 2)
		hoe->gaps++;
	spacing = max_u64(((__u64)gap << 16) / max_u32(acked, 1), 1);
	closer = !hoe->spacing || spacing < hoe->spacing;
	if (closer)
		hoe->spacing = spacing;
	if (hoe->gaps >= 2 && min_rtt) {
		if (sets && (closer || hoe->stage == HOE_WAITING))
			hoe_apply(sk, hoe, min_rtt);
		hoe->stage = HOE_REFINING;
	}
}

#endif
