/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the Westwoods share: what an ACK accounts for, and the window that fits an
 * estimated bandwidth.
 *
 * A bandwidth is in segments per microsecond, 40 bits behind the point.
 */
#ifndef BENTPIPE_ESTIMATE_H
#define BENTPIPE_ESTIMATE_H

#include "fixed.h"

enum { ACCOUNTING_DUPACK, ACCOUNTING_DELIVERED };

struct account {
	/* tp->delivered at the last ACK. */
	__u32 delivered;
	/* Duplicates that no cumulative ACK has covered yet. */
	__u32 duplicates;
};

static INLINE void account_begin(const struct sock *sk, struct account *account)
{
	account->delivered = tcp_sk(sk)->delivered;
	account->duplicates = 0;
}

/* Segments of an ACK: what SACK says arrived, or one for a duplicate, which a
 * later cumulative ACK does not count again. */
static INLINE __u32 account_for(const struct sock *sk, struct account *account,
				__u32 acked, __u64 accounting)
{
	__u32 arrived = tcp_sk(sk)->delivered - account->delivered;
	__u32 count;

	account->delivered = tcp_sk(sk)->delivered;
	if (accounting == ACCOUNTING_DELIVERED)
		return arrived;
	if (!acked) {
		/* Not every ACK that acknowledges nothing is a duplicate. */
		if (!arrived)
			return 0;
		account->duplicates++;
		return 1;
	}
	if (acked == 1)
		return 1;
	if (account->duplicates >= acked) {
		account->duplicates -= acked;
		return 1;
	}
	count = acked - account->duplicates;
	account->duplicates = 0;
	return count;
}

/* `segments` in `time`. */
static INLINE __u64 bandwidth(__u32 segments, __u64 time)
{
	return quotient((__u64)min_u32(segments, 1U << 20) << 40, time);
}

/* Bandwidth x `rtt`, 2^-32 segments, at least 2; 0 while either is unknown. */
static INLINE __u64 fitting(__u64 rate, __u32 rtt)
{
	__u64 product;

	if (!rate || !rtt)
		return 0;
	rtt = min_u32(rtt, 1U << 27);
	if (rate >> 36) {
		product = (min_u64(rate, 1ULL << 52) >> 16) * rtt >> 24;
		product = min_u64(product, WINDOW_LIMIT) << 32;
	} else {
		product = min_u64(rate * rtt >> 8, (__u64)WINDOW_LIMIT << 32);
	}
	return max_u64(product, 2 * SEGMENT);
}

/*
 * The cut to the estimate. cwnd becomes min(cwnd, ssthresh), and a window below
 * ssthresh stays there when recovery ends. The kernel's recovery goes for
 * ssthresh: until its end ssthresh is the window of the cut.
 */
struct cut {
	/* ssthresh of the last cut. */
	struct threshold threshold;
	/* The window of a cut whose recovery lasts, 2^-32; else 0. */
	__u64 exact;
};

static INLINE void cut_begin(struct cut *cut)
{
	threshold_begin(&cut->threshold);
	cut->exact = 0;
}

/* For ssthresh. */
static INLINE __u32 cut_to(const struct sock *sk, struct window *window,
			   struct cut *cut, __u64 fits)
{
	if (!fits)
		fits = max_u64((__u64)flight_at_loss(sk, window) << 31, 2 * SEGMENT);
	threshold_set(&cut->threshold, fits);
	cut->exact = max_u64(min_u64(window_get(sk, window), fits), SEGMENT);
	return max_u32(cut->exact >> 32, 2);
}

/* For cong_avoid: Reno's growth below and above the threshold with its fraction. */
static INLINE void cut_grow(struct sock *sk, struct window *window, const struct cut *cut)
{
	__u64 exact = window_get(sk, window);

	grow_as_reno(sk, window, exact < threshold_get(sk, &cut->threshold));
}

/* For undo_cwnd: the end of recovery is still reported. */
static INLINE __u32 cut_undone(const struct sock *sk, struct cut *cut)
{
	cut->exact = 0;
	return window_before_cut(sk);
}

/* For cwnd_event. */
static INLINE void cut_event(struct sock *sk, struct window *window, struct cut *cut,
			     int event, int fix)
{
	__u64 exact = cut->exact;

	if (event != CA_EVENT_COMPLETE_CWR && event != CA_EVENT_LOSS)
		return;
	window_event(window, event);
	if (exact)
		tcp_sk(sk)->snd_ssthresh = cut->threshold.whole;
	if (exact && event == CA_EVENT_COMPLETE_CWR) {
		if (fix)
			exact = min_u64(exact, (__u64)(in_flight(sk) + 1) << 32);
		window_set(sk, window, exact);
	}
	cut->exact = 0;
}

/* For set_state: a timeout in recovery does not cut again. The kernel sets the
 * state Open before the end of recovery, which is therefore cwnd_event's alone. */
static INLINE void cut_state(struct sock *sk, struct cut *cut, __u8 state)
{
	if (state != TCP_CA_LOSS)
		return;
	if (cut->exact)
		tcp_sk(sk)->snd_ssthresh = cut->threshold.whole;
	cut->exact = 0;
}

/* Hooks of controls whose state has a `cut`. */

/* Reno's growth. */
#define HOOK_CUT_GROWTH() \
	HOOK_CONG_AVOID() \
	{ \
		struct state *state = inet_csk_ca(sk); \
 \
		cut_grow(sk, &state->window, &state->cut); \
	}

/* A timeout in recovery does not cut again. */
#define HOOK_CUT_STATE() \
	HOOK_WITH(void, set_state, __u8, new_state) \
	{ \
		struct state *state = inet_csk_ca(sk); \
 \
		cut_state(sk, &state->cut, new_state); \
	}

/* A needless cut brings the window back. */
#define HOOK_CUT_UNDO() \
	HOOK(__u32, undo_cwnd) \
	{ \
		struct state *state = inet_csk_ca(sk); \
 \
		return cut_undone(sk, &state->cut); \
	}

#endif
