/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The filter of TCP Westwood: every ACK is a sample b = what it accounts for /
 * time since the last one; several at one instant are one sample.
 *
 * Sources: Mascolo, Casetti, Gerla et al. 2001 (tustin), the WestwoodNR agent for
 * ns-2 (the fixed weights).
 *
 * - tustin: BWE = ((2 tau - D) BWE + D (b + b_last)) / (2 tau + D), D the time
 *   since the last sample, with zero samples every tau / m without an ACK; the
 *   sample that ends the silence divides by all of it;
 * - type-0: .9 BWE + .1 b; type-1: .9047 BWE + .0476 (b + b_last); type-2: .93548
 *   and .03225.
 */
#ifndef BENTPIPE_WESTWOOD_H
#define BENTPIPE_WESTWOOD_H

#include "estimate.h"

enum { FILTER_TUSTIN, FILTER_TYPE_0, FILTER_TYPE_1, FILTER_TYPE_2 };

struct filter {
	__u64 estimate;
	__u64 last_sample;
	/* Time of the last ACK, us. */
	__u32 last;
	/* Segments of ACKs at that instant; NO_ACK before the first. */
	__u32 pending;
};

#define NO_ACK ~0U

static INLINE void filter_begin(struct filter *filter)
{
	filter->estimate = 0;
	filter->last_sample = 0;
	filter->last = 0;
	filter->pending = NO_ACK;
}

static INLINE void filter_weigh(struct filter *filter, __u64 sample, __u32 old,
				__u32 new, __u32 last)
{
	filter->estimate = scale(filter->estimate, old, 100000) +
		scale(sample, new, 100000) +
		scale(filter->last_sample, last, 100000);
}

/* A sample over `gap`; both gap and tau times m. */
static INLINE void filter_step(struct filter *filter, __u64 tau, __u64 gap, __u64 sample)
{
	__u64 sum = 2 * tau + gap;

	filter->estimate = scale(filter->estimate, 2 * tau - gap, sum) +
		scale(sample + filter->last_sample, gap, sum);
}

/* ((2 m - 1) / (2 m + 1))^n, 32 bits behind the point. */
static INLINE __u64 decay(__u64 m, __u32 n)
{
	__u64 base = ((2 * m - 1) << 32) / (2 * m + 1);
	__u64 result = 1ULL << 32;
	__u32 i;

	for (i = 0; i < 16; i++) {
		/* A factor of one has 33 bits. */
		__u64 factor = n >> i & 1 ? base : 1ULL << 32;

		result = (result >> 1) * factor >> 31;
		base = base * base >> 32;
	}
	return n >> 16 ? 0 : result;
}

/* The zero samples of a silence; what is left of the gap after them, times m. */
static INLINE __u64 filter_silence(struct filter *filter, __u64 tau, __u64 m, __u64 gap)
{
	__u64 zeros = (gap + tau - 1) / max_u64(tau, 1) - 1;
	__u64 rate;

	/* Times m the period is tau. */
	filter_step(filter, tau * m, tau, 0);
	filter->last_sample = 0;
	rate = decay(m, min_u64(zeros - 1, 1U << 20));
	filter->estimate = (filter->estimate >> 32) * rate +
		((filter->estimate & 0xffffffff) * rate >> 32);
	return max_u64(min_u64(gap - zeros * tau, tau), 1);
}

/* An ACK that accounts for `segments`. */
static INLINE void filter_take(const struct sock *sk, struct filter *filter, __u32 segments,
			       __u64 type, __u64 tau, __u64 m)
{
	__u32 now = tcp_sk(sk)->tcp_mstamp;
	__u32 gap = now - filter->last;
	__u64 sample, rest;

	if (filter->pending == NO_ACK) {
		filter->last = now;
		filter->pending = 0;
		return;
	}
	filter->pending += segments;
	if (!gap)
		return;
	filter->last = now;
	sample = bandwidth(filter->pending, gap);
	filter->pending = 0;
	if (type == FILTER_TYPE_0) {
		filter_weigh(filter, sample, 90000, 10000, 0);
	} else if (type == FILTER_TYPE_1) {
		filter_weigh(filter, sample, 90470, 4760, 4760);
	} else if (type == FILTER_TYPE_2) {
		filter_weigh(filter, sample, 93548, 3225, 3225);
	} else {
		/* Microseconds from 1000 to 6 x 10^7, and m from 1 to 16. */
		tau = min_u64(max_u64(tau / 1000, 1000), 60000000);
		m = min_u64(max_u64(m, 1), 16);
		rest = (__u64)gap * m;
		if (rest > tau)
			rest = filter_silence(filter, tau, m, rest);
		filter_step(filter, tau * m, rest, sample);
	}
	filter->last_sample = sample;
}

/* For controls whose state has a `filter`, a `cut` and `min_rtt`: a loss cuts to
 * the estimate. */
#define HOOK_CUT_SSTHRESH() \
	HOOK(__u32, ssthresh) \
	{ \
		struct state *state = inet_csk_ca(sk); \
 \
		return cut_to(sk, &state->window, &state->cut, \
			      fitting(state->filter.estimate, state->min_rtt)); \
	}

#endif
