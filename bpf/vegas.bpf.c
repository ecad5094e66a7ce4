/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * TCP Vegas of Brakmo & Peterson; see vegas.h. Linux's own tcp_vegas divides by
 * the smallest RTT, takes the smallest sample of a round, doubles in every round
 * and halves at a loss.
 */
#include "bentpipe.h"
#include "vegas.h"

PARAMETERS(VEGAS_PARAMETERS);

struct state {
	struct window window;
	struct vegas vegas;
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	vegas_begin(sk, &state->vegas);
	window_begin(sk, &state->window);
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);

	vegas_sample(&state->vegas, sample);
}

HOOK_CONG_AVOID()
{
	struct state *state = inet_csk_ca(sk);
	int needed = needs_window(sk);
	__s64 difference;

	if (vegas_round_is_over(sk, &state->vegas) &&
	    vegas_end_round(sk, &state->vegas, &difference))
		vegas_decide(sk, &state->window, &state->vegas, difference, SEGMENT);
	vegas_grow(sk, &state->window, &state->vegas, needed);
}

HOOK_WITH(void, set_state, __u8, new_state)
{
	struct state *state = inet_csk_ca(sk);

	vegas_state(sk, &state->window, &state->vegas, new_state);
}

HOOK_WITH(void, cwnd_event, int, event)
{
	struct state *state = inet_csk_ca(sk);

	if (event == CA_EVENT_COMPLETE_CWR) {
		vegas_recovered(sk, &state->vegas);
	} else if (event == CA_EVENT_LOSS) {
		tcp_sk(sk)->snd_ssthresh = half_of_flight(sk, &state->window);
		state->vegas.cut = 0;
	}
	window_event(&state->window, event);
}

HOOK(__u32, ssthresh)
{
	struct state *state = inet_csk_ca(sk);

	return vegas_cut(sk, &state->window, &state->vegas);
}

HOOK(__u32, undo_cwnd)
{
	struct state *state = inet_csk_ca(sk);

	state->vegas.cut = 0;
	return window_before_cut(sk);
}

CONTROL("bp_vegas", ON(init), ON(pkts_acked), ON(cong_avoid), ON(set_state),
	ON(cwnd_event), ON(ssthresh), ON(undo_cwnd));
