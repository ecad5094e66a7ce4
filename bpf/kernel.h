/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernel's side: the fields that the controls use, found by name in the
 * running kernel (CO-RE), and what makes a function a hook.
 */
#ifndef BENTPIPE_KERNEL_H
#define BENTPIPE_KERNEL_H

#define SECTION(name) __attribute__((section(name), used))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	__u32 sk_pacing_status;
};

struct inet_connection_sock {
	__u64 icsk_ca_priv[STATE_BYTES / 8];
};

struct tcp_sock {
	__u64 tcp_mstamp;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 prior_cwnd;
	__u32 prr_out;
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
	__u8 is_cwnd_limited : 1;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
};

struct rate_sample {
	__s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	__u32 acked_sacked;
	__u32 prior_in_flight;
	_Bool is_app_limited;
};

#pragma clang attribute pop

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, int event);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag,
			     const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
	__u32 flags;
};

static INLINE struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static INLINE void *inet_csk_ca(const struct sock *sk)
{
	return (void *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

/* A field of one bit, wherever the kernel has it. */
enum { FIELD_BYTE_OFFSET = 0, FIELD_LSHIFT_U64 = 4, FIELD_RSHIFT_U64 = 5 };

static INLINE int is_window_full(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const __u8 *at = (const __u8 *)tp +
		__builtin_preserve_field_info(tp->is_cwnd_limited, FIELD_BYTE_OFFSET);
	__u64 value = *at;

	value <<= __builtin_preserve_field_info(tp->is_cwnd_limited, FIELD_LSHIFT_U64);
	value >>= __builtin_preserve_field_info(tp->is_cwnd_limited, FIELD_RSHIFT_U64);
	return value != 0;
}

/* The control's parameters; see bentpipe.h. */
#define PARAMETERS(count) \
	const volatile __u64 parameters[count] SECTION(".rodata.parameters") = {}

extern const volatile __u64 parameters[];

static INLINE __u64 parameter(const struct sock *sk, __u32 index)
{
	(void)sk;
	return parameters[index];
}

/* The program of a hook, whose body follows. */
#define HOOK(result, name) \
	static INLINE result name##_body(struct sock *sk); \
	SECTION("struct_ops/" #name) result name(__u64 *ctx) \
	{ \
		return name##_body((struct sock *)ctx[0]); \
	} \
	static INLINE result name##_body(struct sock *sk)

#define HOOK_WITH(result, name, type, argument) \
	static INLINE result name##_body(struct sock *sk, type argument); \
	SECTION("struct_ops/" #name) result name(__u64 *ctx) \
	{ \
		return name##_body((struct sock *)ctx[0], (type)ctx[1]); \
	} \
	static INLINE result name##_body(struct sock *sk, type argument)

#define HOOK_CONG_AVOID() \
	static INLINE void cong_avoid_body(struct sock *sk, __u32 acked); \
	SECTION("struct_ops/cong_avoid") void cong_avoid(__u64 *ctx) \
	{ \
		cong_avoid_body((struct sock *)ctx[0], ctx[2]); \
	} \
	static INLINE void cong_avoid_body(struct sock *sk, UNUSED __u32 acked)

/* The barrier keeps the compiler from adding a computed offset to ctx, which
 * the verifier refuses. */
#define HOOK_CONG_CONTROL() \
	const volatile __u32 cong_control_arguments SECTION(".rodata.kernel") = 4; \
	static INLINE void cong_control_body(struct sock *sk, \
					     const struct rate_sample *rs); \
	SECTION("struct_ops/cong_control") void cong_control(__u64 *ctx) \
	{ \
		struct sock *sk = (struct sock *)ctx[0]; \
		const struct rate_sample *rs; \
		if (cong_control_arguments == 2) { \
			rs = (const struct rate_sample *)ctx[1]; \
			__asm__ volatile("" : "+r"(rs)); \
		} else { \
			rs = (const struct rate_sample *)ctx[3]; \
			__asm__ volatile("" : "+r"(rs)); \
		} \
		cong_control_body(sk, rs); \
	} \
	static INLINE void cong_control_body(struct sock *sk, \
					     const struct rate_sample *rs)

/* The section is another one where a loader without links is used by hand. */
#ifndef OPS_SECTION
#define OPS_SECTION ".struct_ops.link"
#endif

#define CONTROL_OPS \
	char _license[] SECTION("license") = "Dual MIT/GPL"; \
	struct tcp_congestion_ops ops SECTION(OPS_SECTION)

#endif
