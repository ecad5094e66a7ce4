/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * TCP Hybla: the window of a fast reference connection on a long path.
 *
 * Sources: Caini & Firrincieli 2004 (the laws) and 2006, sec. IV (the parts).
 * With rho = max(RTT / RTT0, 1), RTT being the smallest sample, an ACK adds
 * 2^rho - 1 segments in slow start; in avoidance, per segment acknowledged,
 * rho^2 / cwnd while cwnd is below the estimated bandwidth-delay product (the
 * gate), 1 / cwnd above it. Neither passes the receive window, slow start not
 * ssthresh, which Hoe's estimate sets; until that is there an ACK at most doubles
 * cwnd. A loss halves what is in flight; recovery ends with no more than is in
 * flight. Packets are spread over the round trip.
 *
 * rho has 16 bits behind the point and is at most 4096; its power of two is at
 * most 2^30.
 */
#include "bentpipe.h"
#include "fixed.h"
#include "hoe.h"
#include "pacing.h"
#include "recovery.h"

enum {
	RTT0 = OWN_PARAMETERS, /* ns */
	DOUBLING_LIMIT,	       /* an ACK at most doubles cwnd before the estimate */
	START_WINDOW,
	GATE,
	COUNTS,
	HOE,
	RECOVERY_FIX,
	PACING, /* millionths of cwnd / srtt; 0: none */
	COUNT,
};

enum { START_WINDOW_TRANSPORT, START_WINDOW_RHO };
enum { GATE_HOE, GATE_OFF };
enum { COUNTS_SEGMENTS, COUNTS_ACKS };
enum { HOE_ROUND, HOE_OFF };

PARAMETERS(COUNT);

struct state {
	struct window window;
	struct recovery recovery;
	struct hoe hoe;
	/* 2^rho - 1, 2^-32 segments. */
	__u64 step;
	/* 2^-16. */
	__u32 rho;
	/* Smallest RTT, us; 0 before one. */
	__u32 min_rtt;
	__u32 round_end;
	/* Segments that this ACK acknowledged. */
	__u32 acked;
};
STATE_FITS(struct state);

#define ONE_RHO (1U << 16)
#define MOST_RHO ((1U << 28) - 1)
#define MOST_EXPONENT 30

static INLINE void renew(struct sock *sk, struct state *state, __u32 rtt)
{
	__u64 rho, exponent;

	if (!rtt || (state->min_rtt && rtt >= state->min_rtt))
		return;
	state->min_rtt = rtt;
	rho = quotient((__u64)rtt * 1000 << 16, parameter(sk, RTT0));
	rho = min_u64(max_u64(rho, ONE_RHO), MOST_RHO);
	state->rho = rho;
	exponent = min_u64(rho, MOST_EXPONENT << 16);
	state->step = (power_of_two(exponent << 16) << 1 << (exponent >> 16)) - SEGMENT;
}

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	state->step = SEGMENT;
	state->rho = ONE_RHO;
	state->min_rtt = 0;
	state->round_end = tcp_sk(sk)->snd_una;
	state->acked = 0;
	hoe_begin(&state->hoe);
	recovery_begin(sk, &state->recovery);
	window_begin(sk, &state->window);
	renew(sk, state, tcp_sk(sk)->srtt_us >> 3);
	if (parameter(sk, START_WINDOW) == START_WINDOW_RHO && state->min_rtt &&
	    tcp_sk(sk)->data_segs_out == 0)
		window_set(sk, &state->window, (__u64)state->rho << 16);
	if (parameter(sk, PACING))
		pacing_begin(sk);
	pace(sk, parameter(sk, PACING));
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	int round_start = after(tp->snd_una, state->round_end);

	state->acked = sample->pkts_acked;
	if (!state->acked)
		return;
	if (sample->rtt_us > 0)
		renew(sk, state, sample->rtt_us);
	if (round_start)
		state->round_end = tp->snd_nxt;
	if (!state->recovery.reduces)
		hoe_take(sk, &state->hoe, state->acked, round_start, state->min_rtt,
			 parameter(sk, HOE) == HOE_ROUND);
}

static INLINE __u64 slow_start_step(const struct sock *sk, const struct state *state,
				    __u64 exact)
{
	int pending = parameter(sk, HOE) == HOE_ROUND &&
		state->hoe.stage == HOE_WAITING;

	if (pending && parameter(sk, DOUBLING_LIMIT))
		return min_u64(state->step, exact);
	return state->step;
}

static INLINE __u64 avoidance_step(const struct sock *sk, const struct state *state,
				   __u64 exact)
{
	__u64 product = parameter(sk, GATE) == GATE_HOE ?
		hoe_product(&state->hoe, state->min_rtt) : 0;
	__u64 gain = SEGMENT;
	__u32 count = parameter(sk, COUNTS) == COUNTS_SEGMENTS ? state->acked : 1;

	/* The product has 16 bits behind the point. */
	if (!product || exact >> 16 < product)
		gain = (__u64)state->rho * state->rho;
	return per_window(gain, exact) * min_u32(count, 1U << 16);
}

static INLINE void grow(struct sock *sk, struct state *state)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u64 exact = window_get(sk, &state->window);
	__u64 ceiling = receive_window(sk);
	__u64 step;

	if (in_slow_start(sk)) {
		step = slow_start_step(sk, state, exact);
		ceiling = min_u64(ceiling, (__u64)tp->snd_ssthresh << 32);
	} else {
		step = avoidance_step(sk, state, exact);
	}
	window_set(sk, &state->window, min_u64(exact + step, max_u64(ceiling, exact)));
}

HOOK_CONG_CONTROL()
{
	struct state *state = inet_csk_ca(sk);
	int took = recovery_took(sk, &state->window, &state->recovery, rs);

	/* A paced sender seldom fills its window: it needs it as long as the
	 * application has data. */
	if (!took && state->acked && (needs_window(sk) || !rs->is_app_limited))
		grow(sk, state);
	pace(sk, parameter(sk, PACING));
}

HOOK_WITH(void, set_state, __u8, new_state)
{
	struct state *state = inet_csk_ca(sk);

	if (new_state >= TCP_CA_CWR)
		hoe_stop(&state->hoe);
	recovery_state(sk, &state->window, &state->recovery, new_state,
		       parameter(sk, RECOVERY_FIX) != 0);
}

HOOK(__u32, min_tso_segs)
{
	return parameter(sk, PACING) ? 1 : 2;
}

HOOK_SSTHRESH_HALVES()

HOOK(__u32, undo_cwnd)
{
	struct state *state = inet_csk_ca(sk);

	recovery_undone(&state->recovery);
	return window_before_cut(sk);
}

CONTROL("bp_hybla", ON(init), ON(pkts_acked), ON(cong_control), ON(set_state),
	ON(min_tso_segs), ON(ssthresh), ON(undo_cwnd));
