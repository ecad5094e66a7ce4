/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * TCP Westwood: after a loss, the window that the ACKs have shown to fit.
 *
 * Source: Mascolo, Casetti, Gerla et al. 2001; the filters are in westwood.h. A
 * loss sets ssthresh = max(2, BWE x smallest RTT) and cwnd = min(cwnd, ssthresh); a
 * timeout the same ssthresh and cwnd = 1. Before a sample the cut is half of what
 * is in flight. Growth is Reno's, per ACK.
 *
 * Linux's own tcp_westwood is Westwood+ with another cut.
 */
#include "bentpipe.h"
#include "westwood.h"

enum {
	FILTER = OWN_PARAMETERS,
	TAU,	      /* ns */
	ZERO_SAMPLES, /* m */
	ACCOUNTING,
	COUNT,
};

PARAMETERS(COUNT);

struct state {
	struct window window;
	struct account account;
	struct filter filter;
	struct cut cut;
	/* Smallest RTT, us; 0 before one. */
	__u32 min_rtt;
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	account_begin(sk, &state->account);
	filter_begin(&state->filter);
	cut_begin(&state->cut);
	state->min_rtt = tcp_sk(sk)->srtt_us >> 3;
	window_begin(sk, &state->window);
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);
	__u32 count = account_for(sk, &state->account, sample->pkts_acked,
				  parameter(sk, ACCOUNTING));

	state->min_rtt = smaller_rtt(state->min_rtt, sample->rtt_us);
	if (sample->pkts_acked || count)
		filter_take(sk, &state->filter, count, parameter(sk, FILTER),
			    parameter(sk, TAU), parameter(sk, ZERO_SAMPLES));
}

HOOK_CUT_GROWTH()
HOOK_CUT_STATE()

HOOK_WITH(void, cwnd_event, int, event)
{
	struct state *state = inet_csk_ca(sk);

	cut_event(sk, &state->window, &state->cut, event, 0);
}

HOOK_CUT_SSTHRESH()
HOOK_CUT_UNDO()

CONTROL("bp_westwood", ON(init), ON(pkts_acked), ON(cong_avoid), ON(set_state),
	ON(cwnd_event), ON(ssthresh), ON(undo_cwnd));
