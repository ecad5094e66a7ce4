/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The window with its fraction of a segment, and the steps that most controls
 * share.
 *
 * The kernel's snd_cwnd is whole. A control keeps what is beyond it, in units
 * of 2^-32 segments, and computes with both as one 64-bit number ("exact").
 * Whatever else moves snd_cwnd (recovery, a timeout, an idle time, undo) takes
 * the fraction away.
 */
#ifndef BENTPIPE_WINDOW_H
#define BENTPIPE_WINDOW_H

/* The first member of every control's state. */
struct window {
	__u32 fraction;
	/* snd_cwnd as the control left it. */
	__u32 left;
};

/* One segment. */
#define SEGMENT (1ULL << 32)

/* No control goes beyond: as many segments as the largest receive window has
 * bytes. */
#define WINDOW_LIMIT (1U << 30)

static INLINE __u32 window_limit(const struct sock *sk)
{
	__u32 limit = min_u32(WINDOW_LIMIT, tcp_sk(sk)->snd_cwnd_clamp);
	__u64 clamp = parameter(sk, WINDOW_CLAMP);

	if (clamp && clamp < limit)
		limit = clamp;
	return max_u32(limit, 1);
}

static INLINE __u64 window_get(const struct sock *sk, struct window *window)
{
	__u32 cwnd = tcp_sk(sk)->snd_cwnd;

	if (cwnd != window->left) {
		window->left = cwnd;
		window->fraction = 0;
	}
	return (__u64)cwnd << 32 | window->fraction;
}

/* At least one segment and at most the limit. */
static INLINE void window_set(struct sock *sk, struct window *window, __u64 exact)
{
	__u64 limit = (__u64)window_limit(sk) << 32;

	exact = min_u64(max_u64(exact, SEGMENT), limit);
	window->fraction = (__u32)exact;
	window->left = exact >> 32;
	tcp_sk(sk)->snd_cwnd = window->left;
}

/* The connection is established, or has chosen this control: the initial window,
 * unless data has left already or the handshake lost packets. */
static INLINE void window_begin(struct sock *sk, struct window *window)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u64 initial = parameter(sk, INITIAL_WINDOW);
	__u32 cwnd = tp->snd_cwnd;

	if (initial && tp->data_segs_out == 0 && tp->total_retrans <= 1)
		cwnd = min_u64(initial, WINDOW_LIMIT);
	window_set(sk, window, (__u64)cwnd << 32);
}

/* Recovery has ended or the timer has run out: the window is whole. */
static INLINE void window_event(struct window *window, int event)
{
	if (event == CA_EVENT_COMPLETE_CWR || event == CA_EVENT_LOSS)
		window->fraction = 0;
}

static INLINE int in_slow_start(const struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd < tcp_sk(sk)->snd_ssthresh;
}

/* True if the sender needs its window (tcp_is_cwnd_limited): it was full, or it
 * is slow start and less than twice of what was sent. */
static INLINE int needs_window(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (is_window_full(sk))
		return 1;
	return in_slow_start(sk) && tp->snd_cwnd < 2 * tp->max_packets_out;
}


/* gain / window, both and the result in units of 2^-32; gain below 2^56. As many
 * bits are kept as fit. */
static INLINE __u64 per_window(__u64 gain, __u64 exact)
{
	if (gain >> 48)
		return quotient(gain << 8, exact >> 24);
	if (gain >> 32)
		return quotient(gain << 16, exact >> 16);
	return quotient(gain << 32, exact);
}

/* The receive window, 2^-32 segments. */
static INLINE __u64 receive_window(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return quotient((__u64)tp->snd_wnd << 32, tp->mss_cache);
}

/* Reno's avoidance: a segment per window of ACKs. */
static INLINE __u64 reno_step(__u64 exact)
{
	return quotient(~0ULL, exact);
}

/* One more in slow start, 1/cwnd in avoidance, per ACK. */
static INLINE void grow_as_reno(struct sock *sk, struct window *window, int slow_start)
{
	__u64 exact = window_get(sk, window);

	if (!needs_window(sk))
		return;
	exact += slow_start ? SEGMENT : reno_step(exact);
	window_set(sk, window, exact);
}

/* The smallest RTT, us, after a sample; 0 before one. */
static INLINE __u32 smaller_rtt(__u32 least, __s32 sample)
{
	if (sample <= 0 || (least && least <= (__u32)sample))
		return least;
	return sample;
}

/* What a loss cuts: what is outstanding, which limited transmit may have raised
 * above the window. A window that rounding keeps just below a whole number counts
 * as that. */
static INLINE __u32 flight_at_loss(const struct sock *sk, struct window *window)
{
	__u32 cwnd = (window_get(sk, window) + SEGMENT / 1024) >> 32;

	return max_u32(min_u32(tcp_sk(sk)->packets_out, cwnd), 1);
}

/* RFC 5681. */
static INLINE __u32 half_of_flight(const struct sock *sk, struct window *window)
{
	return max_u32(flight_at_loss(sk, window) / 2, 2);
}

/*
 * A threshold with its fraction of a segment. The kernel's ssthresh is whole; what
 * is beyond is kept here, for the last one and the one before it, which comes back
 * when a cut was needless.
 */
struct threshold {
	__u32 whole;
	__u32 fraction;
	__u32 whole_before;
	__u32 fraction_before;
};

static INLINE void threshold_begin(struct threshold *threshold)
{
	threshold->whole = 0;
	threshold->fraction = 0;
	threshold->whole_before = 0;
	threshold->fraction_before = 0;
}

/* What to set ssthresh to: at least two segments. */
static INLINE __u32 threshold_set(struct threshold *threshold, __u64 exact)
{
	exact = max_u64(exact, 2 * SEGMENT);
	threshold->whole_before = threshold->whole;
	threshold->fraction_before = threshold->fraction;
	threshold->whole = exact >> 32;
	threshold->fraction = (__u32)exact;
	return threshold->whole;
}

/* A threshold of so many whole segments with what is known of its fraction. */
static INLINE __u64 threshold_of(const struct threshold *threshold, __u32 ssthresh)
{
	__u32 fraction = 0;

	if (ssthresh == threshold->whole)
		fraction = threshold->fraction;
	else if (ssthresh == threshold->whole_before)
		fraction = threshold->fraction_before;
	return (__u64)ssthresh << 32 | fraction;
}

static INLINE __u64 threshold_get(const struct sock *sk, const struct threshold *threshold)
{
	return threshold_of(threshold, tcp_sk(sk)->snd_ssthresh);
}

/* For cwnd_event, where recovery ends at ssthresh. */
static INLINE void threshold_event(const struct sock *sk, struct window *window,
				   const struct threshold *threshold, int event)
{
	window_event(window, event);
	if (event == CA_EVENT_COMPLETE_CWR && tcp_sk(sk)->snd_cwnd == threshold->whole) {
		window->left = threshold->whole;
		window->fraction = threshold->fraction;
	}
}

/* Segments that are under way (tcp_packets_in_flight). */
static INLINE __u32 in_flight(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 gone = tp->sacked_out + tp->lost_out;
	__u32 sent = tp->packets_out + tp->retrans_out;

	return sent > gone ? sent - gone : 0;
}

/* The cut was needless. */
static INLINE __u32 window_before_cut(const struct sock *sk)
{
	return max_u32(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

/*
 * Hooks that several controls have. Each expands to the whole hook, for a control
 * whose state is a `struct state` with a `window`.
 */

/* A loss halves what is in flight. */
#define HOOK_SSTHRESH_HALVES() \
	HOOK(__u32, ssthresh) \
	{ \
		struct state *state = inet_csk_ca(sk); \
 \
		return half_of_flight(sk, &state->window); \
	}

/* A needless cut brings the window back. */
#define HOOK_UNDO() \
	HOOK(__u32, undo_cwnd) \
	{ \
		return window_before_cut(sk); \
	}

/* Recovery and timeouts leave a whole window. */
#define HOOK_EVENT_WHOLE() \
	HOOK_WITH(void, cwnd_event, int, event) \
	{ \
		struct state *state = inet_csk_ca(sk); \
 \
		window_event(&state->window, event); \
	}

/* Recovery ends at the `threshold` with its fraction. */
#define HOOK_EVENT_THRESHOLD() \
	HOOK_WITH(void, cwnd_event, int, event) \
	{ \
		struct state *state = inet_csk_ca(sk); \
 \
		threshold_event(sk, &state->window, &state->threshold, event); \
	}

#endif
