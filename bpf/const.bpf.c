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

HOOK_EVENT_WHOLE()
HOOK_SSTHRESH_HALVES()
HOOK_UNDO()

CONTROL("bp_const", ON(init), ON(cong_avoid), ON(cwnd_event), ON(ssthresh),
	ON(undo_cwnd));
