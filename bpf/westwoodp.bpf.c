/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * TCP Westwood+: Westwood with one bandwidth sample per round trip.
 *
 * Source: Grieco & Mascolo 2004. A sample is what was acknowledged since the last
 * one / the time it took, at least the RTT and 50 ms; BWE = .9 BWE + .1 b, or with
 * the mean of the last two samples (tustin, as ns-3). The cut is Westwood's, or
 * Linux's: half at the loss, BWE x smallest RTT when recovery ends. A sample of a
 * window that was not used counts only if it is larger, unless SKIP_APP_LIMITED
 * is off.
 */
#include "bentpipe.h"
#include "estimate.h"

enum {
	FILTER = OWN_PARAMETERS,
	CUT,
	ACCOUNTING,
	SKIP_APP_LIMITED,
	COUNT,
};

enum { FILTER_EXPONENTIAL, FILTER_TUSTIN };
enum { CUT_AT_LOSS, CUT_LINUX };

/* Microseconds. */
#define SHORTEST_INTERVAL 50000

PARAMETERS(COUNT);

struct state {
	struct window window;
	struct account account;
	struct cut cut;
	__u64 estimate;
	__u64 last_sample;
	/* When the interval began, us. */
	__u32 since;
	/* Segments acknowledged in it. */
	__u32 acked;
	/* Last and smallest RTT, us; 0 before one. */
	__u32 rtt;
	__u32 min_rtt;
	__u8 begun;
	__u8 used; /* an ACK of the interval found the window in use */
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	account_begin(sk, &state->account);
	cut_begin(&state->cut);
	state->estimate = 0;
	state->last_sample = 0;
	state->since = 0;
	state->acked = 0;
	state->rtt = 0;
	state->min_rtt = tcp_sk(sk)->srtt_us >> 3;
	state->begun = 0;
	state->used = 0;
	window_begin(sk, &state->window);
}

static INLINE void end_interval(const struct sock *sk, struct state *state, __u32 interval)
{
	__u64 sample = bandwidth(state->acked, interval);
	__u8 used = state->used;

	state->acked = 0;
	state->used = 0;
	state->since = tcp_sk(sk)->tcp_mstamp;
	if (!used && parameter(sk, SKIP_APP_LIMITED) && sample <= state->estimate)
		return;
	state->estimate = scale(state->estimate, 9, 10);
	if (parameter(sk, FILTER) == FILTER_TUSTIN)
		state->estimate += (sample + state->last_sample) / 20;
	else
		state->estimate += sample / 10;
	state->last_sample = sample;
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);
	__u32 now = tcp_sk(sk)->tcp_mstamp;
	__u32 count = account_for(sk, &state->account, sample->pkts_acked,
				  parameter(sk, ACCOUNTING));
	__u32 interval;

	if (!sample->pkts_acked && !count)
		return;
	if (sample->rtt_us > 0)
		state->rtt = sample->rtt_us;
	state->min_rtt = smaller_rtt(state->min_rtt, sample->rtt_us);
	state->acked += count;
	if (needs_window(sk))
		state->used = 1;
	if (!state->begun) {
		state->begun = 1;
		state->since = now - state->rtt;
	}
	interval = now - state->since;
	if (interval >= max_u32(state->rtt, SHORTEST_INTERVAL))
		end_interval(sk, state, interval);
}

HOOK_CUT_GROWTH()
HOOK_CUT_STATE()

HOOK_WITH(void, cwnd_event, int, event)
{
	struct state *state = inet_csk_ca(sk);
	__u64 fits = fitting(state->estimate, state->min_rtt);
	int ends = event == CA_EVENT_COMPLETE_CWR || event == CA_EVENT_LOSS;

	/* Half at the loss, the estimate at the end of recovery or at a timeout. */
	if (ends && parameter(sk, CUT) == CUT_LINUX && state->cut.exact && fits) {
		threshold_set(&state->cut.threshold, fits);
		state->cut.exact = fits;
	}
	cut_event(sk, &state->window, &state->cut, event, 0);
}

HOOK(__u32, ssthresh)
{
	struct state *state = inet_csk_ca(sk);
	__u64 fits = fitting(state->estimate, state->min_rtt);

	if (parameter(sk, CUT) == CUT_LINUX)
		fits = 0;
	return cut_to(sk, &state->window, &state->cut, fits);
}

HOOK_CUT_UNDO()

CONTROL("bp_westwoodp", ON(init), ON(pkts_acked), ON(cong_avoid),
	ON(set_state), ON(cwnd_event), ON(ssthresh), ON(undo_cwnd));
