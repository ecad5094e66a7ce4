/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * F_LINEAR: in slow start every ACK adds one segment more than the last one did,
 * up to a threshold; a constant above it.
 *
 * Source: Marchese 2006, eq. 7 (the test is on cwnd); Marchese 2001, eq. 3 (on the
 * number of ACKs, as far as the print can be read). Avoidance adds 1/cwnd per
 * ACK, a loss halves what is in flight, a timeout begins at F = 0 again.
 */
#include "bentpipe.h"

enum {
	THRESHOLD = OWN_PARAMETERS, /* segments */
	TEST,			    /* what is compared with it */
	CONSTANT,		    /* F above it, segments */
	COUNT,
};

enum { TEST_CWND, TEST_ACK_COUNT };

PARAMETERS(COUNT);

struct state {
	struct window window;
	__u32 f;
	/* ACKs that advanced, whether the window was in use or not. */
	__u32 acks;
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	state->f = 0;
	state->acks = 0;
	window_begin(sk, &state->window);
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);

	if (sample->pkts_acked)
		state->acks++;
}

static INLINE __u32 next_f(const struct sock *sk, const struct state *state)
{
	__u64 threshold = parameter(sk, THRESHOLD);

	if (parameter(sk, TEST) == TEST_ACK_COUNT) {
		if (state->acks <= threshold)
			return state->acks;
	} else if (tcp_sk(sk)->snd_cwnd < threshold) {
		return state->f + 1;
	}
	return parameter(sk, CONSTANT);
}

HOOK_CONG_AVOID()
{
	struct state *state = inet_csk_ca(sk);
	__u64 exact = window_get(sk, &state->window);

	if (!needs_window(sk))
		return;
	if (in_slow_start(sk)) {
		state->f = next_f(sk, state);
		exact += (__u64)state->f << 32;
	} else {
		exact += reno_step(exact);
	}
	window_set(sk, &state->window, exact);
}

HOOK_WITH(void, set_state, __u8, new_state)
{
	struct state *state = inet_csk_ca(sk);

	if (new_state == TCP_CA_LOSS)
		state->f = 0;
}

HOOK_EVENT_WHOLE()
HOOK_SSTHRESH_HALVES()
HOOK_UNDO()

CONTROL("bp_linear", ON(init), ON(pkts_acked), ON(cong_avoid), ON(set_state),
	ON(cwnd_event), ON(ssthresh), ON(undo_cwnd));
