/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * HighSpeed TCP: the larger the window, the faster it grows and the less a loss
 * takes.
 *
 * Source: RFC 3649, section 5, the equations (Linux has the table of appendix B).
 * Above LOW_WINDOW, with x = log w - log low over log high - log low,
 *
 *   b(w) = 0.5 + x (HIGH_DECREASE - 0.5), at least 0.01,
 *   p(w) = exp(log low_p + x (log high_p - log low_p)), low_p = 1.5 / low^2,
 *   a(w) = w^2 p 2 b / (2 - b);
 *
 * avoidance adds a(w) / w per ACK or, with COUNTS_SEGMENTS, per segment; a loss takes
 * b(w) of what is in flight; below it is Reno. Slow start adds one per ACK.
 *
 * With u = log2 w - log2 low, w^2 p = 1.5 x 2^(2 u - u q / s), s = log2 high -
 * log2 low and q = log2 1.5 - 2 log2 low - log2 high_p.
 */
#include "bentpipe.h"
#include "fixed.h"

enum {
	LOW_WINDOW = OWN_PARAMETERS, /* segments */
	HIGH_WINDOW,		     /* segments */
	HIGH_P,			     /* 10^-12 */
	HIGH_DECREASE,		     /* millionths */
	COUNTS,
	COUNT,
};

enum { COUNTS_ACKS, COUNTS_SEGMENTS };

#define MILLION 1000000

/* Logarithms and b have 24 bits behind the point. */
#define ONE (1U << 24)
#define LOG2_1_5 9814042U
#define HALF (ONE / 2)
/* 0.01. */
#define LEAST_DECREASE 167772U
#define MOST_EXPONENT (24U << 24)

PARAMETERS(COUNT);

struct state {
	struct window window;
	struct threshold threshold;
	__u32 log_low;
	__u32 span;  /* s */
	__u32 drop;  /* q */
	/* Segments that this ACK acknowledged. */
	__u32 acked;
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);
	__u64 low = max_u64(parameter(sk, LOW_WINDOW), 1);
	__u64 high = max_u64(parameter(sk, HIGH_WINDOW), low + 1);
	/* 1 / high_p, at most 10^12, has 24 bits and more before the point. */
	__u64 inverse = quotient(1000000000000ULL, parameter(sk, HIGH_P));
	__u32 log_inverse;

	state->log_low = logarithm(low << 32);
	state->span = max_u32(logarithm(high << 32) - state->log_low, 1);
	/* 2^24 of its 2^40 go into the result. */
	if (inverse >> 24)
		log_inverse = logarithm(inverse << 8) + (24U << 24);
	else
		log_inverse = logarithm(inverse << 32);
	log_inverse += LOG2_1_5;
	state->drop = log_inverse > 2 * state->log_low ?
		log_inverse - 2 * state->log_low : 0;
	state->acked = 0;
	threshold_begin(&state->threshold);
	window_begin(sk, &state->window);
}

/* u, 24 bits behind the point. */
static INLINE __u32 above_low(const struct state *state, __u64 exact)
{
	__u32 log = logarithm(exact);

	return log > state->log_low ? log - state->log_low : 0;
}

/* b, 24 bits behind the point. */
static INLINE __u32 decrease(const struct sock *sk, const struct state *state, __u32 u)
{
	__u32 high = (parameter(sk, HIGH_DECREASE) << 24) / MILLION;
	__u64 less;

	high = min_u32(high, HALF);
	less = quotient((__u64)u * (HALF - high), state->span);
	if (less + LEAST_DECREASE >= HALF)
		return LEAST_DECREASE;
	return HALF - less;
}

/* a, 32 bits behind the point. */
static INLINE __u64 increase(const struct sock *sk, const struct state *state, __u32 u)
{
	__u64 up = 2 * (__u64)u + LOG2_1_5;
	__u64 down = quotient((__u64)u * state->drop, state->span);
	__u64 b = decrease(sk, state, u);
	__u64 ratio = (2 * b << 24) / (2 * ONE - b);
	__u64 power;

	if (up >= down) {
		__u32 exponent = min_u64(up - down, MOST_EXPONENT);

		power = power_of_two(exponent << 8) << 1 << (exponent >> 24);
	} else {
		__u32 exponent = min_u64(down - up, MOST_EXPONENT);
		__u64 inverse = power_of_two(exponent << 8) << (exponent >> 24);

		power = quotient(1ULL << 63, inverse);
	}
	if (power >> 39)
		return (power >> 20) * ratio >> 4;
	return power * ratio >> 24;
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);

	state->acked = sample->pkts_acked;
}

HOOK_CONG_AVOID()
{
	struct state *state = inet_csk_ca(sk);
	__u64 exact = window_get(sk, &state->window);
	__u64 step;

	if (!needs_window(sk))
		return;
	if (exact < threshold_get(sk, &state->threshold)) {
		window_set(sk, &state->window, exact + SEGMENT);
		return;
	}
	if (exact <= parameter(sk, LOW_WINDOW) << 32)
		step = reno_step(exact);
	else
		step = per_window(increase(sk, state, above_low(state, exact)), exact);
	if (parameter(sk, COUNTS) == COUNTS_SEGMENTS)
		step *= min_u32(state->acked, 1U << 16);
	window_set(sk, &state->window, exact + min_u64(step, exact));
}

HOOK_EVENT_THRESHOLD()

HOOK(__u32, ssthresh)
{
	struct state *state = inet_csk_ca(sk);
	__u64 flight = (__u64)flight_at_loss(sk, &state->window) << 32;
	__u64 b = HALF;

	if (flight > parameter(sk, LOW_WINDOW) << 32)
		b = decrease(sk, state, above_low(state, flight));
	return threshold_set(&state->threshold, scale(flight, ONE - b, ONE));
}

HOOK_UNDO()

CONTROL("bp_highspeed", ON(init), ON(pkts_acked), ON(cong_avoid), ON(cwnd_event),
	ON(ssthresh), ON(undo_cwnd));
