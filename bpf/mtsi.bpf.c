/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * MTSI, Multiple Thresholds, Smoothed Increase: every ACK of slow start adds F
 * segments, and F follows from slopes between thresholds on cwnd.
 *
 * Source: Marchese 2006, eq. 3-5 (rule A: F grows by the slope, 1 above the last
 * threshold); Marchese 2001, eq. 5-6 (rule B: F is the slope x the number of
 * ACKs). F before the first ACK is F0. A timeout sets F of rule A back to F0; the
 * count of rule B goes on. `scope` says where F acts: in slow start, wherever
 * cwnd <= ssthresh, or at every window below the last threshold. Avoidance adds
 * 1/cwnd per ACK, a loss halves what is in flight.
 */
#include "bentpipe.h"

#define MOST 8

enum {
	THRESHOLDS = OWN_PARAMETERS,  /* segments, ascending, 0 after the last */
	SLOPES = THRESHOLDS + MOST,   /* segments per ACK below each */
	RULE = SLOPES + MOST,
	TIE,			      /* a window equal to a threshold is below it */
	SCOPE,
	F0,			      /* segments */
	COUNT,
};

enum { RULE_A, RULE_B };
enum { TIE_LT, TIE_LE };
enum { SCOPE_STRICT, SCOPE_EQUALITY, SCOPE_BELOW_THRESHOLD };

PARAMETERS(COUNT);

struct state {
	struct window window;
	__u32 f;
	/* F from before the last timeout, should that prove spurious. */
	__u32 f_before;
	/* ACKs that advanced, whether the window was in use or not. */
	__u32 acks;
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	state->f = parameter(sk, F0);
	state->f_before = 0;
	state->acks = 0;
	window_begin(sk, &state->window);
}

static INLINE int is_below(const struct sock *sk, __u64 exact, __u64 threshold)
{
	threshold <<= 32;
	return parameter(sk, TIE) == TIE_LE ? exact <= threshold : exact < threshold;
}

/* The slope at this window; 0 from the last threshold on. */
static INLINE __u64 slope(const struct sock *sk, __u64 exact)
{
	__u32 i;

	for (i = 0; i < MOST; i++) {
		__u64 threshold = parameter(sk, THRESHOLDS + i);

		if (!threshold)
			return 0;
		if (is_below(sk, exact, threshold))
			return parameter(sk, SLOPES + i);
	}
	return 0;
}

static INLINE int acts(const struct sock *sk, __u64 exact, __u64 k)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u64 scope = parameter(sk, SCOPE);

	if (in_slow_start(sk))
		return 1;
	if (scope == SCOPE_EQUALITY)
		return exact <= (__u64)tp->snd_ssthresh << 32;
	return scope == SCOPE_BELOW_THRESHOLD && k;
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);

	if (sample->pkts_acked)
		state->acks++;
}

HOOK_CONG_AVOID()
{
	struct state *state = inet_csk_ca(sk);
	__u64 exact = window_get(sk, &state->window);
	__u64 k, f = 1;

	if (!needs_window(sk))
		return;
	k = slope(sk, exact);
	if (acts(sk, exact, k)) {
		if (k)
			f = parameter(sk, RULE) == RULE_B ? k * state->acks : state->f + k;
		state->f = min_u64(f, WINDOW_LIMIT);
		exact += (__u64)state->f << 32;
	} else {
		if (!k)
			state->f = 1;
		exact += reno_step(exact);
	}
	window_set(sk, &state->window, exact);
}

HOOK_WITH(void, set_state, __u8, new_state)
{
	struct state *state = inet_csk_ca(sk);

	if (new_state == TCP_CA_LOSS) {
		state->f_before = state->f;
		state->f = parameter(sk, F0);
	}
}

HOOK_EVENT_WHOLE()
HOOK_SSTHRESH_HALVES()

HOOK(__u32, undo_cwnd)
{
	struct state *state = inet_csk_ca(sk);

	state->f = max_u32(state->f, state->f_before);
	state->f_before = 0;
	return window_before_cut(sk);
}

CONTROL("bp_mtsi", ON(init), ON(pkts_acked), ON(cong_avoid), ON(set_state),
	ON(cwnd_event), ON(ssthresh), ON(undo_cwnd));
