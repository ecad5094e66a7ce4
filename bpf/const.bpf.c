/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * F_CONST: in slow start every ACK adds K segments, however much it covers.
 *
 * Source: Marchese 2006, eq. 6; Marchese 2001, eq. 2. K = 1 is the slow start of
 * ACKs, not segments, that the papers compare with. There is no threshold but
 * ssthresh, which a last step may pass. Avoidance adds 1/cwnd per ACK, a loss
 * halves what is in flight.
 */
#include "bentpipe.h"

enum {
	K = OWN_PARAMETERS, /* segments per ACK */
	COUNT,
};

PARAMETERS(COUNT);

struct state {
	struct window window;
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	window_begin(sk, &state->window);
}

HOOK_CONG_AVOID()
{
	struct state *state = inet_csk_ca(sk);
	__u64 exact = window_get(sk, &state->window);

	if (!needs_window(sk))
		return;
	if (in_slow_start(sk))
		exact += parameter(sk, K) << 32;
	else
		exact += reno_step(exact);
	window_set(sk, &state->window, exact);
}

HOOK_WITH(void, cwnd_event, int, event)
{
	struct state *state = inet_csk_ca(sk);

	window_event(&state->window, event);
}

HOOK(__u32, ssthresh)
{
	struct state *state = inet_csk_ca(sk);

	return half_of_flight(sk, &state->window);
}

HOOK(__u32, undo_cwnd)
{
	return window_before_cut(sk);
}

CONTROL = {
	.init = (void *)init,
	.cong_avoid = (void *)cong_avoid,
	.cwnd_event = (void *)cwnd_event,
	.ssthresh = (void *)ssthresh,
	.undo_cwnd = (void *)undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "bp_const",
};
