/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * E-TCPW, Enhanced TCP Westwood: Westwood with Hoe's initial ssthresh and the
 * recovery fix, on SACK.
 *
 * Source: Caini & Firrincieli 2006, sec. IV.C; the filters are in westwood.h, the
 * estimate of ssthresh in hoe.h. When recovery ends cwnd is no more than what is
 * in flight and one segment.
 */
#include "bentpipe.h"
#include "hoe.h"
#include "westwood.h"

enum {
	FILTER = OWN_PARAMETERS,
	TAU,	      /* ns */
	ZERO_SAMPLES, /* m */
	ACCOUNTING,
	HOE,
	RECOVERY_FIX,
	COUNT,
};

enum { HOE_ROUND, HOE_OFF };

PARAMETERS(COUNT);

struct state {
	struct window window;
	struct account account;
	struct filter filter;
	struct hoe hoe;
	struct cut cut;
	/* Smallest RTT, us; 0 before one. */
	__u32 min_rtt;
	__u32 round_end;
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	account_begin(sk, &state->account);
	filter_begin(&state->filter);
	hoe_begin(&state->hoe);
	cut_begin(&state->cut);
	state->min_rtt = tcp_sk(sk)->srtt_us >> 3;
	state->round_end = tcp_sk(sk)->snd_una;
	window_begin(sk, &state->window);
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 acked = sample->pkts_acked;
	__u32 count = account_for(sk, &state->account, acked, parameter(sk, ACCOUNTING));
	int round_start = after(tp->snd_una, state->round_end);

	state->min_rtt = smaller_rtt(state->min_rtt, sample->rtt_us);
	if (acked || count)
		filter_take(sk, &state->filter, count, parameter(sk, FILTER),
			    parameter(sk, TAU), parameter(sk, ZERO_SAMPLES));
	if (!acked)
		return;
	if (round_start)
		state->round_end = tp->snd_nxt;
	if (parameter(sk, HOE) == HOE_ROUND && !state->cut.exact)
		hoe_take(sk, &state->hoe, acked, round_start, state->min_rtt, 1);
}

HOOK_CUT_GROWTH()

HOOK_WITH(void, set_state, __u8, new_state)
{
	struct state *state = inet_csk_ca(sk);

	if (new_state >= TCP_CA_CWR)
		hoe_stop(&state->hoe);
	cut_state(sk, &state->cut, new_state);
}

HOOK_WITH(void, cwnd_event, int, event)
{
	struct state *state = inet_csk_ca(sk);

	cut_event(sk, &state->window, &state->cut, event,
		  parameter(sk, RECOVERY_FIX) != 0);
}

HOOK_CUT_SSTHRESH()
HOOK_CUT_UNDO()

CONTROL("bp_etcpw", ON(init), ON(pkts_acked), ON(cong_avoid), ON(set_state),
	ON(cwnd_event), ON(ssthresh), ON(undo_cwnd));
