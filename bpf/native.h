/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The simulator's side: one flat socket that stands for the kernel's three, and
 * hooks that are plain functions. crates/bpf/src/native.rs has the same
 * structures and compares their sizes.
 */
#ifndef BENTPIPE_NATIVE_H
#define BENTPIPE_NATIVE_H

#define MAX_PARAMETERS 32

struct sock {
	__u64 icsk_ca_priv[STATE_BYTES / 8];
	__u64 parameters[MAX_PARAMETERS];
	__u64 sk_pacing_rate;
	__u64 sk_max_pacing_rate;
	__u64 tcp_mstamp;
	__u32 sk_pacing_status;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 prior_cwnd;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 max_packets_out;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 snd_wnd;
	__u32 delivered;
	__u32 srtt_us;
	__u32 mss_cache;
	__u32 data_segs_out;
	__u32 total_retrans;
	__u32 is_cwnd_limited;
	__u32 prr_out;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
};

struct rate_sample {
	__s64 interval_us;
	__s64 rtt_us;
	__s32 delivered;
	__s32 losses;
	__u32 acked_sacked;
	__u32 prior_in_flight;
	__u32 is_app_limited;
	__u32 reserved;
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, int event);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
	__u32 flags;
};

static INLINE struct sock *tcp_sk(const struct sock *sk)
{
	return (struct sock *)sk;
}

static INLINE void *inet_csk_ca(const struct sock *sk)
{
	return (void *)sk->icsk_ca_priv;
}

static INLINE int is_window_full(const struct sock *sk)
{
	return sk->is_cwnd_limited != 0;
}

#define tcp_sock sock

#ifdef BENTPIPE_LOADED
/* What is loaded at run time says how many parameters it reads. */
#define PARAMETERS(count) \
	_Static_assert((count) <= MAX_PARAMETERS, "more than a socket holds"); \
	extern const __u32 bentpipe_parameter_count; \
	const __u32 bentpipe_parameter_count = (count)
#else
#define PARAMETERS(count) \
	_Static_assert((count) <= MAX_PARAMETERS, "more than a socket holds")
#endif

static INLINE __u64 parameter(const struct sock *sk, __u32 index)
{
	return sk->parameters[index];
}

#define HOOK(result, name) static result name(struct sock *sk)
#define HOOK_WITH(result, name, type, argument) \
	static result name(struct sock *sk, type argument)
#define HOOK_CONG_AVOID() \
	static void cong_avoid(struct sock *sk, UNUSED __u32 acked)
#define HOOK_CONG_CONTROL() \
	static void cong_control(struct sock *sk, const struct rate_sample *rs)

#define CONTROL_OPS const struct tcp_congestion_ops BENTPIPE_OPS

#endif
