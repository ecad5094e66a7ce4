/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What every congestion control of this folder is written against.
 *
 * A control is one file, NAME.bpf.c, of hooks of the kernel's
 * tcp_congestion_ops. The same file is compiled twice:
 *
 * - for the kernel, by clang as eBPF (kernel.h). The object has one struct_ops
 *   map, `ops`, in section .struct_ops.link, and one array, `parameters`, in
 *   section .rodata.parameters: 64-bit words in the order of the catalogue of
 *   crates/bpf, all zero in the object. A loader writes every one of them, and
 *   may overwrite the name in `ops`. No other header is needed:
 *       clang -O2 -g -target bpf -c NAME.bpf.c
 * - for the simulator, with -DBENTPIPE_NATIVE and -DBENTPIPE_OPS=bp_NAME_ops
 *   (native.h). The parameters then lie in the socket.
 *
 * Every control has the parameters INITIAL_WINDOW and WINDOW_CLAMP first.
 *
 * Kernel versions. cong_control(sk, rs) became cong_control(sk, ack, flag, rs)
 * in Linux 6.10. An object with that hook has a 32-bit word,
 * `cong_control_arguments`, in section .rodata.kernel: how many arguments the
 * hook of the running kernel takes, 4 in the object. A loader that finds a map
 * .rodata.kernel writes 2 where the kernel's BTF says so; the verifier then
 * drops the other branch.
 *
 * Rules that the verifier or older loaders make: every hook is named in the
 * ops; no `static const` array; no signed 64-bit division; state that belongs to
 * a connection fits the 104 bytes of inet_csk_ca(). A division by zero stops the
 * simulator, though not the kernel: every divisor is checked.
 */
#ifndef BENTPIPE_H
#define BENTPIPE_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;

#define INLINE inline __attribute__((always_inline))
#define UNUSED __attribute__((unused))

/* tcp_congestion_ops.flags: anybody may choose it. */
#define TCP_CONG_NON_RESTRICTED 1

/* What snd_ssthresh is before anything sets it. */
#define TCP_INFINITE_SSTHRESH 0x7fffffff

/* States of a connection, the argument of set_state. */
enum {
	TCP_CA_OPEN = 0,
	TCP_CA_DISORDER = 1,
	TCP_CA_CWR = 2,
	TCP_CA_RECOVERY = 3,
	TCP_CA_LOSS = 4,
};

/* Events, the argument of cwnd_event. The end of fast recovery is the state
 * Open first, then, with cwnd at ssthresh, as CA_EVENT_COMPLETE_CWR; that of CWR
 * the other way round. */
enum {
	CA_EVENT_TX_START = 0,
	CA_EVENT_CWND_RESTART = 1,
	CA_EVENT_COMPLETE_CWR = 2,
	CA_EVENT_LOSS = 3,
};

/* Flags of in_ack_event. */
enum {
	CA_ACK_SLOWPATH = 1,
	CA_ACK_WIN_UPDATE = 2,
	CA_ACK_ECE = 4,
};

/* The parameters that all controls have. */
enum {
	INITIAL_WINDOW, /* segments; 0: the kernel's */
	WINDOW_CLAMP,	/* segments that cwnd never exceeds; 0: none */
	OWN_PARAMETERS, /* the first of the control's own */
};

/* What a socket holds of a control's state of a connection. */
#define STATE_BYTES 104

#ifdef BENTPIPE_NATIVE
#include "native.h"
#else
#include "kernel.h"
#endif

/* The ops of a control: its name, then a hook it has in each ON(). It comes last
 * in a file. */
#define ON(hook) .hook = (void *)hook
#define CONTROL(label, ...) \
	CONTROL_OPS = { \
		__VA_ARGS__, \
		.flags = TCP_CONG_NON_RESTRICTED, \
		.name = label, \
	}

#define STATE_FITS(type) \
	_Static_assert(sizeof(type) <= STATE_BYTES, "more than a socket holds")

static INLINE __u32 min_u32(__u32 a, __u32 b)
{
	return a < b ? a : b;
}

static INLINE __u32 max_u32(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

static INLINE __u64 min_u64(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

static INLINE __u64 max_u64(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* a / b, and 0 where there is nothing to divide by, as eBPF has it. */
static INLINE __u64 quotient(__u64 a, __u64 b)
{
	return b ? a / b : 0;
}

/* True if sequence number a lies after b. */
static INLINE int after(__u32 a, __u32 b)
{
	return (__s32)(a - b) > 0;
}

#include "window.h"

#endif
