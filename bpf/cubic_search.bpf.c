/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * CUBIC whose slow start ends when what arrives no longer doubles (SEARCH).
 *
 * Sources: SEARCH 3.0, draft-chung-ccwg-search (versions up to 08), section 3, in
 * search.h; CUBIC, RFC 9438, in cubic.h. Slow start adds one per segment that is
 * acknowledged. SEARCH works until its first exit, loss or timeout, CUBIC after
 * that; so the two have the same place in the socket.
 */
#include "bentpipe.h"
#include "fixed.h"

enum {
	SEARCH_WINDOW = OWN_PARAMETERS, /* millionths of the first RTT */
	SEARCH_THRESHOLD,		/* millionths */
	ROLLS_BACK,
	CUBIC_C,			/* millionths of segments/s^3 */
	CUBIC_BETA,			/* millionths */
	FAST_CONVERGENCE,
	RENO_FRIENDLY,
	COUNTS,
	COUNT,
};

enum { COUNTS_ACKS, COUNTS_SEGMENTS };

#define MILLION 1000000

PARAMETERS(COUNT);

#include "cubic.h"
#include "search.h"

struct state {
	struct window window;
	struct threshold threshold;
	union {
		struct search search;
		struct cubic cubic;
	};
	/* Segments that this ACK acknowledged, 65,535 at most. */
	__u16 acked;
	/* The fraction of the window before the last cut, 2^-16 segments. */
	__u16 fraction_before;
	/* SEARCH looks for the end of slow start. */
	__u8 searches;
	/* Flags of CUBIC. */
	__u8 flags;
	__u8 flags_before;
	/* In fast recovery, the kernel's state. */
	__u8 recovers;
};
STATE_FITS(struct state);

/* SEARCH is over: CUBIC has the place. */
static INLINE void begin_cubic(struct state *state)
{
	state->searches = 0;
	state->flags = 0;
	state->flags_before = 0;
	cubic_begin(&state->cubic);
}

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	threshold_begin(&state->threshold);
	window_begin(sk, &state->window);
	state->acked = 0;
	state->fraction_before = 0;
	state->searches = 1;
	state->flags = 0;
	state->flags_before = 0;
	state->recovers = 0;
	search_begin(&state->search, tcp_sk(sk)->snd_cwnd);
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);
	__u64 exact = window_get(sk, &state->window);
	__u64 point;

	state->acked = min_u32(sample->pkts_acked, 0xffff);
	if (!state->searches || sample->rtt_us <= 0)
		return;
	if (!search_ends(sk, &state->search, sample->rtt_us))
		return;
	point = exact;
	if (parameter(sk, ROLLS_BACK))
		point = search_point(sk, &state->search, exact);
	begin_cubic(state);
	if (point < exact)
		window_set(sk, &state->window, point);
	if (point < threshold_get(sk, &state->threshold))
		tcp_sk(sk)->snd_ssthresh = threshold_set(&state->threshold, point);
}

HOOK_CONG_AVOID()
{
	struct state *state = inet_csk_ca(sk);
	__u64 exact = window_get(sk, &state->window);
	__u64 ssthresh = threshold_get(sk, &state->threshold);

	if (!needs_window(sk)) {
		if (!state->searches)
			cubic_idle(sk, &state->cubic, &state->flags);
		return;
	}
	if (exact < ssthresh) {
		__u64 ceiling = max_u64(ssthresh, exact + SEGMENT);

		exact += (__u64)state->acked << 32;
		window_set(sk, &state->window, min_u64(exact, ceiling));
		return;
	}
	/* A threshold that was there before any loss, such as of a route. */
	if (state->searches)
		begin_cubic(state);
	exact = cubic_grow(sk, &state->cubic, &state->flags, exact, state->acked);
	window_set(sk, &state->window, exact);
}

HOOK_WITH(void, set_state, __u8, now)
{
	struct state *state = inet_csk_ca(sk);

	if (now == TCP_CA_LOSS) {
		if (state->searches)
			begin_cubic(state);
		/* It cuts nothing again, but only it can be undone. */
		if (state->recovers) {
			state->flags_before = state->flags;
			cubic_save(&state->cubic);
		}
		cubic_timeout(&state->cubic, &state->flags);
	}
	state->recovers = now == TCP_CA_RECOVERY;
}

HOOK_EVENT_THRESHOLD()

HOOK(__u32, ssthresh)
{
	struct state *state = inet_csk_ca(sk);
	__u64 exact = window_get(sk, &state->window);
	/* Whatever its fraction: CUBIC's windows do not come close to whole ones. */
	__u32 flight = max_u32(min_u32(tcp_sk(sk)->packets_out, exact >> 32), 1);
	__u64 beta = min_u64(parameter(sk, CUBIC_BETA), MILLION);

	if (state->searches)
		begin_cubic(state);
	state->flags_before = state->flags;
	state->fraction_before = (__u32)exact >> 16;
	cubic_loss(sk, &state->cubic, &state->flags, exact);
	return threshold_set(&state->threshold, scale((__u64)flight << 32, beta, MILLION));
}

HOOK(__u32, undo_cwnd)
{
	struct state *state = inet_csk_ca(sk);
	__u32 cwnd;

	if (!state->searches) {
		state->flags = state->flags_before;
		cubic_undo(&state->cubic);
	}
	cwnd = window_before_cut(sk);
	if (cwnd == tcp_sk(sk)->prior_cwnd) {
		state->window.left = cwnd;
		state->window.fraction = (__u32)state->fraction_before << 16;
	}
	return cwnd;
}

CONTROL("bp_cubic_search", ON(init), ON(pkts_acked), ON(cong_avoid), ON(set_state),
	ON(cwnd_event), ON(ssthresh), ON(undo_cwnd));
