/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Pacing by the socket itself. Only cong_control keeps the rate: with
 * cong_avoid the kernel writes its own after every ACK. The kernel lets the first
 * ten segments of a connection go at once.
 */
#ifndef BENTPIPE_PACING_H
#define BENTPIPE_PACING_H

/* No pacing, and pacing by the socket (sk_pacing_status). */
enum { SK_PACING_NONE, SK_PACING_NEEDED };

#define NO_PACING_RATE ~0ULL

static INLINE void pacing_begin(struct sock *sk)
{
	/* A queue discipline may do it already. */
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* A window a smoothed RTT, times `gain` millionths; 0 leaves packets unpaced. */
static INLINE void pace(struct sock *sk, __u64 gain)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u64 rtt = tp->srtt_us >> 3;
	__u64 bytes = (__u64)tp->snd_cwnd * tp->mss_cache;
	__u64 rate = NO_PACING_RATE;

	/* With a cwnd of 2^30 and a gain of 4 this stays below 2^64. */
	if (gain && rtt)
		rate = max_u64(min_u64(bytes, 1ULL << 40) * gain / rtt, 1);
	sk->sk_pacing_rate = min_u64(rate, sk->sk_max_pacing_rate);
}

#endif
