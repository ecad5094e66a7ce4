/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Proactive TCP: a mean RTT that keeps rising is congestion to come.
 *
 * Source: Sarkar, Shukla & Dasgupta 2010, sections 2.1 to 2.4. The mean RTT of each
 * window is compared with that of the window before. RISES rises in a row are
 * incipient congestion: cwnd falls to PENALTY of itself, and in slow start nothing
 * grows until the next window ends; as many falls end that state. A loss halves
 * cwnd and ssthresh in the incipient state, else it changes neither and ends slow
 * start. A timeout halves the previous ssthresh. ssthresh begins at half of the
 * receive window. Windows that the application left unused do not count.
 */
#include "bentpipe.h"

enum {
	RISES = OWN_PARAMETERS,
	DEAD_BAND, /* millionths of the mean that a change must exceed */
	PENALTY,   /* millionths of the window that a detection leaves */
	SLOW_START,
	TIMEOUT_SSTHRESH,
	AFTER_ERROR,
	START_SSTHRESH,
	COUNT,
};

enum { SLOW_START_SAME, SLOW_START_ONE_RISE };
enum { TIMEOUT_PREVIOUS, TIMEOUT_FLIGHT };
enum { AFTER_ERROR_AVOIDANCE, AFTER_ERROR_BY_SSTHRESH };
enum { START_HALF_RECEIVE_WINDOW, START_TRANSPORT };

enum { LEVEL, RISE, FALL };

#define MILLION 1000000

PARAMETERS(COUNT);

struct state {
	struct window window;
	/* Sum of the window's RTT samples, us, and of those of the last one. */
	__u64 sum;
	__u64 last_sum;
	__u32 samples;
	__u32 last_samples;
	__u32 rises;
	__u32 falls;
	__u32 round_end;
	/* The window and threshold for the end of recovery, 2^-32 segments and
	 * segments; 0 without one. */
	__u64 after;
	struct threshold threshold;
	__u32 ssthresh;
	/* ssthresh before the last loss or timeout. */
	__u32 previous;
	__u8 used;	/* the sender needed its window in this one */
	__u8 incipient;
	__u8 avoids;	/* a loss has ended slow start */
	__u8 holds;	/* no growth in slow start until the window ends */
	__u8 cuts;	/* the loss that is repaired has cut */
};
STATE_FITS(struct state);

HOOK(void, init)
{
	struct state *state = inet_csk_ca(sk);

	state->sum = 0;
	state->last_sum = 0;
	state->samples = 0;
	state->last_samples = 0;
	state->rises = 0;
	state->falls = 0;
	state->round_end = tcp_sk(sk)->snd_una;
	state->after = 0;
	state->ssthresh = 0;
	state->previous = 0;
	threshold_begin(&state->threshold);
	state->used = 0;
	state->incipient = 0;
	state->avoids = 0;
	state->holds = 0;
	state->cuts = 0;
	window_begin(sk, &state->window);
}

/* The mean of the window that ended against that of the one before. */
static INLINE int trend(const struct sock *sk, struct state *state)
{
	__u64 band = parameter(sk, DEAD_BAND);
	__u64 now, before, change;
	int found = LEVEL;

	if (!state->samples || !state->used) {
		state->sum = 0;
		state->samples = 0;
		state->used = 0;
		return -1;
	}
	/* Fewer bits where a window has very many samples. */
	if (state->samples >> 16) {
		state->sum >>= 8;
		state->samples >>= 8;
	}
	if (!state->last_samples) {
		found = -1;
	} else {
		now = state->sum * state->last_samples;
		before = state->last_sum * state->samples;
		change = now > before ? now - before : before - now;
		/* A difference of so many millionths, without a product above 2^64. */
		if (change > before / MILLION * band + before % MILLION * band / MILLION)
			found = now > before ? RISE : FALL;
	}
	state->last_sum = state->sum;
	state->last_samples = state->samples;
	state->sum = 0;
	state->samples = 0;
	state->used = 0;
	return found;
}

/* In recovery, what it will leave. */
static INLINE int starts_slowly(const struct sock *sk, struct state *state)
{
	__u64 exact = window_get(sk, &state->window);
	__u32 ssthresh = tcp_sk(sk)->snd_ssthresh;

	if (state->after) {
		exact = state->after;
		ssthresh = state->ssthresh;
	}
	return !state->avoids && exact < threshold_of(&state->threshold, ssthresh);
}

/* The window, or that which recovery leaves, as far as the receiver lets it be
 * used. */
static INLINE __u64 in_use(const struct sock *sk, struct state *state)
{
	__u64 exact = state->after ? state->after : window_get(sk, &state->window);

	return min_u64(exact, max_u64(receive_window(sk), SEGMENT));
}

static INLINE void penalise(struct sock *sk, struct state *state)
{
	__u64 penalty = min_u64(parameter(sk, PENALTY), MILLION);
	__u64 left = in_use(sk, state);

	left = max_u64(left / MILLION * penalty + left % MILLION * penalty / MILLION, SEGMENT);
	if (state->after) {
		state->after = left;
		tcp_sk(sk)->snd_ssthresh = max_u32(left >> 32, 2);
	} else {
		window_set(sk, &state->window, left);
	}
}

static INLINE void end_window(struct sock *sk, struct state *state, int found)
{
	__u32 needed = max_u64(parameter(sk, RISES), 1);
	int early = found == RISE && starts_slowly(sk, state) &&
		parameter(sk, SLOW_START) == SLOW_START_ONE_RISE;

	state->rises = found == RISE ? state->rises + 1 : 0;
	state->falls = found == FALL ? state->falls + 1 : 0;
	if (state->rises >= needed || early) {
		state->rises = 0;
		state->falls = 0;
		state->incipient = 1;
		state->holds = starts_slowly(sk, state);
		penalise(sk, state);
	} else if (state->falls >= needed) {
		state->falls = 0;
		state->incipient = 0;
	}
}

HOOK_WITH(void, pkts_acked, const struct ack_sample *, sample)
{
	struct state *state = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 room = receive_window(sk);
	int found;

	if (parameter(sk, START_SSTHRESH) == START_HALF_RECEIVE_WINDOW &&
	    tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH)
		tp->snd_ssthresh = threshold_set(&state->threshold, room / 2);
	if (sample->pkts_acked && after(tp->snd_una, state->round_end)) {
		state->round_end = tp->snd_nxt;
		state->holds = 0;
		found = trend(sk, state);
		if (found >= 0)
			end_window(sk, state, found);
	}
	if (sample->rtt_us > 0) {
		state->sum += min_u32(sample->rtt_us, 1U << 27);
		state->samples++;
	}
	if (needs_window(sk) ||
	    (__u64)(tp->packets_out + sample->pkts_acked + 1) << 32 > room)
		state->used = 1;
}

HOOK_CONG_AVOID()
{
	struct state *state = inet_csk_ca(sk);
	__u64 exact = window_get(sk, &state->window);

	if (!needs_window(sk))
		return;
	if (!starts_slowly(sk, state))
		exact += reno_step(exact);
	else if (!state->holds)
		exact += SEGMENT;
	window_set(sk, &state->window, exact);
}

HOOK(__u32, ssthresh)
{
	struct state *state = inet_csk_ca(sk);
	__u64 half = max_u64(in_use(sk, state) / 2, 2 * SEGMENT);

	state->previous = tcp_sk(sk)->snd_ssthresh;
	state->ssthresh = state->previous;
	if (state->incipient)
		state->ssthresh = threshold_set(&state->threshold, half);
	state->cuts = state->incipient;
	state->after = state->incipient ? half : window_get(sk, &state->window);
	/* Recovery goes for the window that it is to leave. */
	return max_u32(state->after >> 32, 2);
}

/* Recovery is over: ssthresh is what it was, or half of the window if that was
 * cut. */
static INLINE void restore_threshold(struct sock *sk, struct state *state)
{
	if (state->after)
		tcp_sk(sk)->snd_ssthresh = state->ssthresh;
}

HOOK_WITH(void, set_state, __u8, new_state)
{
	struct state *state = inet_csk_ca(sk);

	if (new_state == TCP_CA_RECOVERY && !state->cuts && state->after)
		state->avoids |= parameter(sk, AFTER_ERROR) == AFTER_ERROR_AVOIDANCE;
	if (new_state == TCP_CA_LOSS) {
		/* A timeout during recovery. */
		restore_threshold(sk, state);
		state->holds = 0;
		state->avoids = 0;
		state->after = 0;
	}
}

HOOK_WITH(void, cwnd_event, int, event)
{
	struct state *state = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 halved = threshold_of(&state->threshold, state->previous);
	__u64 exact = state->after;

	if (event == CA_EVENT_LOSS) {
		if (parameter(sk, TIMEOUT_SSTHRESH) == TIMEOUT_FLIGHT ||
		    state->previous >= TCP_INFINITE_SSTHRESH)
			halved = (__u64)flight_at_loss(sk, &state->window) << 32;
		tp->snd_ssthresh = threshold_set(&state->threshold, halved / 2);
		state->after = 0;
	} else if (event == CA_EVENT_COMPLETE_CWR && exact) {
		restore_threshold(sk, state);
		window_set(sk, &state->window, exact);
		state->after = 0;
	}
}

HOOK(__u32, undo_cwnd)
{
	struct state *state = inet_csk_ca(sk);

	state->after = 0;
	return window_before_cut(sk);
}

CONTROL("bp_proactive", ON(init), ON(pkts_acked), ON(cong_avoid),
	ON(set_state), ON(cwnd_event), ON(ssthresh), ON(undo_cwnd));
