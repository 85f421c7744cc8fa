package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// What a broker asks for that wants to know who a client is.
type credentials struct {
	CA       string `json:"ca"`
	Cert     string `json:"cert"`
	Key      string `json:"key"`
	User     string `json:"user"`
	Password string `json:"password"`
}

func security() ([]kgo.Opt, error) {
	given := os.Getenv("CLIENT_SECURITY")
	if given == "" {
		return nil, nil
	}
	var known credentials
	if err := json.Unmarshal([]byte(given), &known); err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM([]byte(known.CA))
	if known.Cert != "" {
		pair, err := tls.X509KeyPair([]byte(known.Cert), []byte(known.Key))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	options := []kgo.Opt{kgo.DialTLSConfig(config)}
	if known.User != "" {
		login := scram.Auth{User: known.User, Pass: known.Password}
		options = append(options, kgo.SASL(login.AsSha512Mechanism()))
	}
	return options, nil
}
