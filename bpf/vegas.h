/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * TCP Vegas: a few segments of one's own in the queue of the bottleneck.
 *
 * Source: Brakmo & Peterson, IEEE JSAC 13(8), 1995, with the numbers of ns-2.35.
 * Once per round trip, `sent` segments since it began, `flight` outstanding, base
 * the smallest RTT and R the mean of the round's samples,
 *
 *   diff = flight - sent x base / R, the segments that wait in queues.
 *
 * Slow start grows one segment per ACK in every other round trip; at the start of
 * such a round diff > GAMMA ends it: cwnd -= cwnd / 8, ssthresh = 2. Avoidance: diff
 * < ALPHA adds one segment over the next round trip, diff > BETA takes one away at
 * once, to no less than 2. base also rises to R where at most one segment was
 * sent. Nothing grows while more than two segments of the window are not used: of
 * that an ACK of one or two segments needs no proof beyond is_cwnd_limited, since
 * the kernel holds segments back to send them together.
 *
 * A loss cuts to 3/4, 3 and less to 2, and ssthresh is 2 after recovery; a timeout
 * sets ssthresh to half and cwnd to 2. The fine retransmission timer of the paper
 * has no hook in the kernel: RACK and TLP repair.
 */
#ifndef BENTPIPE_VEGAS_H
#define BENTPIPE_VEGAS_H

#include "fixed.h"

/* The parameters, after those that all controls have. */
enum {
	ALPHA = OWN_PARAMETERS, /* millionths of a segment */
	BETA,
	GAMMA,
	WHOLE_DIFF, /* diff is rounded to whole segments (ns-2) */
	VEGAS_PARAMETERS,
};

#define MILLION 1000000

/* The smallest window that Vegas sets. */
#define LEAST_WINDOW 2

/* RTTs have 4 bits behind the point in a product: 134 s. */
#define MOST_RTT (1U << 27)

struct vegas {
	/* What an ACK adds: nothing, 1 in slow start, 1/cwnd at the last decision. */
	__u64 increment;
	/* Sum and number of the round's samples, us. */
	__u64 sum;
	__u32 count;
	/* Smallest RTT, us; 0 before one. */
	__u32 base;
	/* The sample of the last ACK, which joins the round after its decision. */
	__u32 pending;
	/* The round ends when more than this is acknowledged. */
	__u32 begin;
	/* When it began, us; 0: the first. */
	__u32 began_at;
	/* ssthresh from before a cut whose recovery lasts. */
	__u32 ssthresh;
	__u8 doubles; /* the increment is one of slow start */
	__u8 grows;   /* slow start grows in the next round */
	__u8 cut;     /* recovery from a cut lasts */
	__u8 stretches; /* this ACK acknowledges more than two segments */
};

static INLINE void vegas_begin(const struct sock *sk, struct vegas *vegas)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	vegas->increment = 0;
	vegas->sum = 0;
	vegas->count = 0;
	vegas->base = 0;
	vegas->pending = 0;
	vegas->begin = tp->snd_una;
	vegas->began_at = 0;
	vegas->ssthresh = 0;
	vegas->doubles = 0;
	/* The round of the handshake had its turn. */
	vegas->grows = tp->srtt_us == 0;
	vegas->cut = 0;
	vegas->stretches = 0;
}

/* For pkts_acked. */
static INLINE void vegas_sample(struct vegas *vegas, const struct ack_sample *sample)
{
	if (vegas->pending) {
		vegas->sum += vegas->pending;
		vegas->count++;
		if (!vegas->base || vegas->pending < vegas->base)
			vegas->base = vegas->pending;
		vegas->pending = 0;
	}
	vegas->stretches = sample->pkts_acked > 2;
	if (sample->pkts_acked && sample->rtt_us > 0) {
		vegas->pending = min_u32(sample->rtt_us, MOST_RTT);
		if (!vegas->base)
			vegas->base = vegas->pending;
	}
}

/* Ends the round: the segments in queues, 16 bits behind the point, rounded where
 * that is asked for. False where the round had no duration. */
static INLINE int vegas_end_round(const struct sock *sk, struct vegas *vegas,
				  __s64 *difference)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 now = tp->tcp_mstamp;
	__u64 bytes = tp->snd_nxt - vegas->begin;
	__u64 sent = quotient(bytes << 16, tp->mss_cache);
	__u64 expected, actual;
	__u32 rtt;

	/* 4 bits behind the point. */
	if (vegas->count)
		rtt = (vegas->sum << 4) / vegas->count;
	else if (vegas->began_at)
		rtt = min_u32(now - vegas->began_at, MOST_RTT) << 4;
	else
		rtt = vegas->base << 4;
	vegas->begin = tp->snd_nxt;
	vegas->began_at = now ? now : 1;
	vegas->sum = 0;
	vegas->count = 0;
	if (!rtt)
		return 0;
	if (rtt < vegas->base << 4 || sent <= 1 << 16)
		vegas->base = (rtt + 8) >> 4;
	expected = scale(sent, (__u64)vegas->base << 4, rtt);
	/* The last segment acknowledged counts as in flight, as in ns-2. */
	actual = ((__u64)tp->packets_out + 1) << 16;
	*difference = (__s64)(actual - expected);
	if (parameter(sk, WHOLE_DIFF)) {
		__s64 more = *difference + (1 << 15);
		__u64 size = more < 0 ? -more : more;

		/* Towards zero. */
		size &= ~0xffffULL;
		*difference = more < 0 ? -(__s64)size : (__s64)size;
	}
	return 1;
}

/* A threshold, 16 bits behind the point. */
static INLINE __s64 vegas_threshold(const struct sock *sk, __u32 index)
{
	return (__s64)((parameter(sk, index) << 16) / MILLION);
}

/* What a round that queued so much means for the window and for the next one.
 * `step` is what to add over the round with less than ALPHA queued. True if the
 * queue held no less. */
static INLINE int vegas_decide(struct sock *sk, struct window *window, struct vegas *vegas,
			       __s64 difference, __u64 step)
{
	__u64 exact = window_get(sk, window);
	__u64 least = (__u64)LEAST_WINDOW << 32;

	vegas->doubles = in_slow_start(sk);
	vegas->increment = 0;
	if (vegas->doubles) {
		vegas->grows = !vegas->grows;
		if (!vegas->grows)
			return 0;
		if (difference > vegas_threshold(sk, GAMMA)) {
			tcp_sk(sk)->snd_ssthresh = LEAST_WINDOW;
			window_set(sk, window, max_u64(exact - exact / 8, least));
		} else {
			vegas->increment = SEGMENT;
		}
		return 0;
	}
	if (difference < vegas_threshold(sk, ALPHA)) {
		vegas->increment = per_window(step, exact);
		return 0;
	}
	if (difference > vegas_threshold(sk, BETA))
		window_set(sk, window, max_u64(max_u64(exact, SEGMENT) - SEGMENT, least));
	return 1;
}

/* True if this ACK ends the round. */
static INLINE int vegas_round_is_over(const struct sock *sk, const struct vegas *vegas)
{
	return after(tcp_sk(sk)->snd_una, vegas->begin);
}

/* The ACK's own step. */
static INLINE void vegas_grow(struct sock *sk, struct window *window, struct vegas *vegas,
			      int needed)
{
	__u64 exact = window_get(sk, window);
	__u64 used = ((__u64)tcp_sk(sk)->packets_out + 3) << 32;

	if (vegas->doubles && !in_slow_start(sk))
		vegas->increment = 0;
	if (needed && (exact <= used || !vegas->stretches))
		window_set(sk, window, exact + vegas->increment);
}

/* For ssthresh: recovery goes for the window of the cut. */
static INLINE __u32 vegas_cut(const struct sock *sk, struct window *window,
			      struct vegas *vegas)
{
	__u32 flight = flight_at_loss(sk, window);

	vegas->ssthresh = tcp_sk(sk)->snd_ssthresh;
	vegas->cut = 1;
	return flight <= 3 ? LEAST_WINDOW : flight - flight / 4;
}

/* For set_state: a timeout, an echoed mark, or the end of a repair. */
static INLINE void vegas_state(struct sock *sk, struct window *window, struct vegas *vegas,
			       __u8 state)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (state == TCP_CA_CWR) {
		tp->snd_ssthresh = half_of_flight(sk, window);
		vegas->cut = 0;
	} else if (state == TCP_CA_LOSS) {
		/* What recovery had cut comes to nothing. */
		if (vegas->cut)
			tp->snd_ssthresh = vegas->ssthresh;
		vegas->cut = 0;
		window_set(sk, window, (__u64)LEAST_WINDOW << 32);
	}
}

/* For the end of recovery. */
static INLINE void vegas_recovered(struct sock *sk, struct vegas *vegas)
{
	if (vegas->cut)
		tcp_sk(sk)->snd_ssthresh = LEAST_WINDOW;
	vegas->cut = 0;
}

#endif
