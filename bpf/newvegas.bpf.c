/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * TCP New Vegas: Vegas for long paths and delayed ACKs, by three changes of the
 * sender.
 *
 * Source: Sing & Soh 2005 and 2006, of which the abstracts could be read; they name
 * the three and print no formula, so that this is our reading:
 *
 * - packets of slow start are spread over the round trip (PACED_START),
 * - two at a time, so that a receiver that delays ACKs answers each pair (PAIRS),
 * - when slow start ends by GAMMA the window goes to Wt = BWE x base RTT + ALPHA by
 *   max(1, (Wt - cwnd) / 2) segments per round trip, as long as less than ALPHA
 *   segments are queued, until it is within a segment of Wt (CONVERGENCE). BWE is
 *   the bandwidth of the closest two ACKs of the last round.
 *
 * The rest is Vegas; see vegas.h.
 */
#include "bentpipe.h"
#include "pacing.h"
#include "recovery.h"
#include "vegas.h"

enum {
	PACED_START = VEGAS_PARAMETERS,
	PAIRS,
	CONVERGENCE,
	COUNT,
};

PARAMETERS(COUNT);

struct state {
	struct window window;
	struct recovery recovery;
	struct vegas vegas;
	/* Wt, 2^-32 segments; 0: none. */
	__u64 target;
	/* Smallest time between segments, 2^-12 us, of the round so far and of the
	 * one before; 0: none. */
	__u32 closest;
	__u32 closest_before;
	/* Time of the last ACK, us; 0 before one. */
	__u32 last;
	__u32 round_end;
	/* Segments that this ACK acknowledged. */
	__u32 acked;
};
STATE_FITS(struct state);

static INLINE void set_pace(struct sock *sk, const struct state *state)
{
	int paces = in_slow_start(sk) && !state->recovery.reduces &&
		parameter(sk, PACED_START);

	pace(sk, paces ? MILLION : 0);
}

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	vegas_begin(sk, &state->vegas);
	recovery_begin(sk, &state->recovery);
	window_begin(sk, &state->window);
	state->target = 0;
	state->closest = 0;
	state->closest_before = 0;
	state->last = 0;
	state->round_end = tcp_sk(sk)->snd_una;
	state->acked = 0;
	if (parameter(sk, PACED_START))
		pacing_begin(sk);
	pace(sk, 0);
}

/* How close this ACK came to the last one. */
static INLINE void measure(const struct sock *sk, struct state *state)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 now = tp->tcp_mstamp;
	__u32 last = state->last;
	__u32 gap = now - last;
	__u64 spacing;

	state->last = now ? now : 1;
	if (after(tp->snd_una, state->round_end)) {
		state->round_end = tp->snd_nxt;
		state->closest_before = state->closest;
		state->closest = 0;
		return;
	}
	if (!last || !gap)
		return;
	spacing = ((__u64)gap << 12) / max_u32(state->acked, 1);
	spacing = min_u64(max_u64(spacing, 1), ~0U);
	if (!state->closest || spacing < state->closest)
		state->closest = spacing;
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);

	state->acked = sample->pkts_acked;
	if (state->acked)
		measure(sk, state);
	vegas_sample(&state->vegas, sample);
}

/* Wt at the end of slow start; 0 while unknown. */
static INLINE __u64 fitting_window(const struct sock *sk, const struct state *state)
{
	__u32 closest = state->closest;
	__u64 product;

	if (state->closest_before && (!closest || state->closest_before < closest))
		closest = state->closest_before;
	if (!closest || !state->vegas.base)
		return 0;
	/* 24 bits behind the point. */
	product = ((__u64)min_u32(state->vegas.base, MOST_RTT) << 36) / closest;
	product = min_u64(product, (__u64)WINDOW_LIMIT << 24);
	return (product << 8) + ((parameter(sk, ALPHA) << 32) / MILLION);
}

/* What to add over a round with less than ALPHA queued. */
static INLINE __u64 convergence_step(struct state *state, __u64 exact)
{
	__u64 distance;

	if (state->target > exact) {
		distance = state->target - exact;
		if (distance > SEGMENT)
			return min_u64(max_u64(distance / 2, SEGMENT), exact);
	}
	state->target = 0;
	return SEGMENT;
}

static INLINE void advance(struct sock *sk, struct state *state, int needed)
{
	int slow_start = in_slow_start(sk);
	__s64 difference;
	__u64 exact, step;
	int full;

	if (vegas_round_is_over(sk, &state->vegas) &&
	    vegas_end_round(sk, &state->vegas, &difference)) {
		exact = window_get(sk, &state->window);
		step = SEGMENT;
		if (!slow_start && difference < vegas_threshold(sk, ALPHA))
			step = convergence_step(state, exact);
		full = vegas_decide(sk, &state->window, &state->vegas, difference, step);
		if (full)
			state->target = 0;
	}
	vegas_grow(sk, &state->window, &state->vegas, needed);
	if (slow_start && !in_slow_start(sk) && parameter(sk, CONVERGENCE))
		state->target = fitting_window(sk, state);
}

HOOK_CONG_CONTROL()
{
	struct state *state = inet_csk_ca(sk);
	int took = recovery_took(sk, &state->window, &state->recovery, rs);

	/* A paced sender seldom fills its window: it needs it as long as the
	 * application has data. */
	if (!took && state->acked)
		advance(sk, state, needs_window(sk) || !rs->is_app_limited);
	set_pace(sk, state);
}

HOOK_WITH(void, set_state, __u8, new_state)
{
	struct state *state = inet_csk_ca(sk);

	if (new_state >= TCP_CA_CWR)
		state->target = 0;
	vegas_state(sk, &state->window, &state->vegas, new_state);
	recovery_state(sk, &state->window, &state->recovery, new_state, 0);
	if (new_state <= TCP_CA_DISORDER)
		vegas_recovered(sk, &state->vegas);
}

HOOK_WITH(void, cwnd_event, int, event)
{
	struct state *state = inet_csk_ca(sk);

	if (event == CA_EVENT_LOSS) {
		tcp_sk(sk)->snd_ssthresh = half_of_flight(sk, &state->window);
		state->vegas.cut = 0;
	}
	window_event(&state->window, event);
}

HOOK(__u32, min_tso_segs)
{
	return parameter(sk, PAIRS) && in_slow_start(sk) ? 2 : 1;
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
	recovery_undone(&state->recovery);
	return window_before_cut(sk);
}

CONTROL("bp_newvegas", ON(init), ON(pkts_acked), ON(cong_control),
	ON(set_state), ON(cwnd_event), ON(min_tso_segs), ON(ssthresh),
	ON(undo_cwnd));
