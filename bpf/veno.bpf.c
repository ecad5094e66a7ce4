/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * TCP Veno: separates random losses from congestion by the backlog that Vegas would
 * see.
 *
 * Source: Fu & Liew, IEEE JSAC 21(2), 2003. N = cwnd (RTT - base) / RTT, RTT the
 * last sample and base the smallest. N below BETA: avoidance adds 1/cwnd per ACK
 * and a loss takes a fifth of what is in flight; else 1/cwnd every other ACK, and
 * half. Slow start and timeouts are Reno's.
 */
#include "bentpipe.h"

enum {
	BETA = OWN_PARAMETERS, /* millionths of a segment */
	COUNT,
};

#define MILLION 1000000

PARAMETERS(COUNT);

struct state {
	struct window window;
	struct threshold threshold;
	/* Smallest and last RTT, us; 0 before one. */
	__u32 base;
	__u32 rtt;
	/* With a backlog, the next ACK grows. */
	__u32 grows_next;
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	state->base = 0;
	state->rtt = 0;
	state->grows_next = 1;
	threshold_begin(&state->threshold);
	window_begin(sk, &state->window);
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	state->rtt = min_u32(sample->rtt_us, 1U << 27);
	if (!state->base || state->rtt < state->base)
		state->base = state->rtt;
}

/* N < BETA: nothing speaks for congestion. */
static INLINE int is_idle(const struct sock *sk, const struct state *state, __u64 exact)
{
	/* 16 bits behind the point; below 2^36 x 2^27. */
	__u64 queued = min_u64(exact >> 16, 1ULL << 36) * (state->rtt - state->base);
	__u64 beta = (parameter(sk, BETA) << 16) / MILLION;

	return !state->rtt || queued < beta * state->rtt;
}

HOOK_CONG_AVOID()
{
	struct state *state = inet_csk_ca(sk);
	__u64 exact = window_get(sk, &state->window);
	int grows;

	if (!needs_window(sk))
		return;
	if (exact < threshold_get(sk, &state->threshold)) {
		exact += SEGMENT;
	} else {
		grows = state->grows_next || is_idle(sk, state, exact);
		state->grows_next = !grows;
		if (grows)
			exact += reno_step(exact);
	}
	window_set(sk, &state->window, exact);
}

HOOK_WITH(void, cwnd_event, int, event)
{
	struct state *state = inet_csk_ca(sk);

	threshold_event(sk, &state->window, &state->threshold, event);
	if (event == CA_EVENT_LOSS)
		tcp_sk(sk)->snd_ssthresh = threshold_set(
			&state->threshold,
			(__u64)flight_at_loss(sk, &state->window) << 31);
}

HOOK(__u32, ssthresh)
{
	struct state *state = inet_csk_ca(sk);
	__u64 flight = (__u64)flight_at_loss(sk, &state->window) << 32;
	int idle = is_idle(sk, state, window_get(sk, &state->window));

	return threshold_set(&state->threshold, idle ? flight / 5 * 4 : flight / 2);
}

HOOK_UNDO()

CONTROL("bp_veno", ON(init), ON(pkts_acked), ON(cong_avoid), ON(cwnd_event),
	ON(ssthresh), ON(undo_cwnd));
