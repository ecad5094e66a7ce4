/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Scalable TCP: growth and cut in proportion to the window.
 *
 * Source: Kelly, CCR 33(2), 2003. Avoidance adds INCREASE per ACK, a loss takes
 * DECREASE of what is in flight; below LOW_WINDOW segments it is Reno, growth and
 * cut. Slow start adds one per ACK.
 */
#include "bentpipe.h"
#include "fixed.h"

enum {
	INCREASE = OWN_PARAMETERS, /* millionths of a segment */
	DECREASE,		   /* millionths of the window */
	LOW_WINDOW,		   /* segments */
	COUNTS,
	COUNT,
};

enum { COUNTS_ACKS, COUNTS_SEGMENTS };

#define MILLION 1000000

PARAMETERS(COUNT);

struct state {
	struct window window;
	struct threshold threshold;
	/* Segments that this ACK acknowledged. */
	__u32 acked;
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	state->acked = 0;
	threshold_begin(&state->threshold);
	window_begin(sk, &state->window);
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
	if (exact < parameter(sk, LOW_WINDOW) << 32)
		step = reno_step(exact);
	else
		step = (parameter(sk, INCREASE) << 32) / MILLION;
	if (parameter(sk, COUNTS) == COUNTS_SEGMENTS)
		step *= min_u32(state->acked, 1U << 16);
	window_set(sk, &state->window, exact + min_u64(step, exact));
}

HOOK_EVENT_THRESHOLD()

HOOK(__u32, ssthresh)
{
	struct state *state = inet_csk_ca(sk);
	__u64 flight = (__u64)flight_at_loss(sk, &state->window) << 32;
	__u64 decrease = parameter(sk, DECREASE);

	if (flight < parameter(sk, LOW_WINDOW) << 32)
		decrease = MILLION / 2;
	decrease = min_u64(decrease, MILLION);
	return threshold_set(&state->threshold, scale(flight, MILLION - decrease, MILLION));
}

HOOK_UNDO()

CONTROL("bp_scalable", ON(init), ON(pkts_acked), ON(cong_avoid),
	ON(cwnd_event), ON(ssthresh), ON(undo_cwnd));
