// A server and a client of quic-go. The client asks for so many bytes on a stream, as eight bytes in
// network order, and prints when its handshake, the first and the last byte were complete.
package main

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/quic-go/quic-go"
)

var (
	address     = flag.String("address", "", "where the server listens")
	size        = flag.Uint64("size", 0, "bytes to ask for; 0 runs the server")
	window      = flag.Uint64("window", 0, "flow-control windows, bytes; 0 leaves quic-go's own")
	certificate = flag.String("certificate", "", "the server's certificate (PEM)")
	key         = flag.String("key", "", "the certificate's key (PEM)")
)

func configuration() *quic.Config {
	config := &quic.Config{MaxIdleTimeout: 120 * time.Second}
	if *window > 0 {
		config.InitialStreamReceiveWindow = *window
		config.MaxStreamReceiveWindow = *window
		config.InitialConnectionReceiveWindow = *window
		config.MaxConnectionReceiveWindow = *window
	}
	return config
}

func serve() error {
	pair, err := tls.LoadX509KeyPair(*certificate, *key)
	if err != nil {
		return err
	}
	secrets := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"transfer"}}
	listener, err := quic.ListenAddr(*address, secrets, configuration())
	if err != nil {
		return err
	}
	for {
		connection, err := listener.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() {
			if err := answer(connection); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
	}
}

func answer(connection *quic.Conn) error {
	stream, err := connection.AcceptStream(context.Background())
	if err != nil {
		return err
	}
	var left uint64
	if err := binary.Read(stream, binary.BigEndian, &left); err != nil {
		return err
	}
	zeros := make([]byte, 1<<16)
	for left > 0 {
		part := min(left, uint64(len(zeros)))
		if _, err := stream.Write(zeros[:part]); err != nil {
			return err
		}
		left -= part
	}
	return stream.Close()
}

func ask() error {
	began := time.Now()
	since := func() float64 { return time.Since(began).Seconds() }
	secrets := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"transfer"}}
	connection, err := quic.DialAddr(context.Background(), *address, secrets, configuration())
	if err != nil {
		return err
	}
	seen := map[string]float64{"handshake_s": since()}
	stream, err := connection.OpenStreamSync(context.Background())
	if err != nil {
		return err
	}
	if err := binary.Write(stream, binary.BigEndian, *size); err != nil {
		return err
	}
	if err := stream.Close(); err != nil {
		return err
	}
	room := make([]byte, 1<<16)
	received := 0
	for {
		n, err := stream.Read(room)
		if n > 0 && received == 0 {
			seen["first_s"] = since()
		}
		received += n
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	seen["complete_s"] = since()
	seen["bytes"] = float64(received)
	if err := connection.CloseWithError(0, ""); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(seen)
}

func main() {
	flag.Parse()
	run := serve
	if *size > 0 {
		run = ask
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
