// Receives Holdfast webhooks with Go's standard library (1.19 or newer):
//
//	WEBHOOK_SECRET=whsec_… PORT=8080 go run receiver.go
//
// WEBHOOK_SCHEME says which signature decides: "standard" (the default: it covers the time too, and while a secret
// rotates it holds both signatures) or "sha256". Choose one; accepting either would be as weak as the weaker one.
// It speaks plain HTTP on loopback: put a proxy with a certificate in front of it.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	sha256Header  = "X-Service-Signature" // the word Service is the operator's HOLDFAST_SERVICE_NAME
	maxBodyBytes  = 1024 * 1024
	tolerance     = 5 * time.Minute
	maxRemembered = 10_000
)

type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

type verifier func(header http.Header, body []byte) bool

// Standard Webhooks: HMAC over id, time and body, keyed with the bytes that the secret encodes.
func standard(secret string) (verifier, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	return func(header http.Header, body []byte) bool {
		id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
		seconds, err := strconv.ParseInt(timestamp, 10, 64)
		if err != nil {
			return false
		}
		if age := time.Since(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
			return false
		}
		sum := sign(key, []byte(id+"."+timestamp+"."), body)
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(sum))
		for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
			if hmac.Equal([]byte(signature), expected) {
				return true
			}
		}
		return false
	}, err
}

// The service's own header: HMAC over the body alone, keyed with the secret's text.
func ownHeader(secret string) verifier {
	return func(header http.Header, body []byte) bool {
		expected := "sha256=" + hex.EncodeToString(sign([]byte(secret), body))
		return hmac.Equal([]byte(header.Get(sha256Header)), []byte(expected))
	}
}

func sign(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// Ids that were handled. In production: a unique key in your database, written in one commit with the work itself.
type memory struct {
	lock  sync.Mutex
	seen  map[string]bool
	order []string
}

func (m *memory) remember(id string) bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.seen[id] {
		return false
	}
	m.seen[id] = true
	m.order = append(m.order, id)
	if len(m.order) > maxRemembered {
		delete(m.seen, m.order[0])
		m.order = m.order[1:]
	}
	return true
}

// Put the event into a queue of your own here: the sender waits 30 seconds at most.
func handle(one event) {
	fmt.Println("handled", one.Type, one.ID)
}

func receive(verify verifier, known *memory) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodPost {
			response.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		// The bytes as they came: parsing and writing JSON again would change them, and the signature with them.
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBodyBytes))
		if err != nil {
			response.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if !verify(request.Header, body) {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		var one event
		if json.Unmarshal(body, &one) != nil || one.ID == "" {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		// The same event again: it was handled, so the answer is the same.
		if known.remember(one.ID) {
			handle(one)
		}
		response.WriteHeader(http.StatusNoContent)
	}
}

func main() {
	secret, port, scheme := os.Getenv("WEBHOOK_SECRET"), os.Getenv("PORT"), os.Getenv("WEBHOOK_SCHEME")
	if port == "" {
		port = "8080"
	}
	verify, err := standard(secret)
	if scheme == "sha256" {
		verify = ownHeader(secret)
	}
	if err != nil || !strings.HasPrefix(secret, "whsec_") || (scheme != "" && scheme != "standard" && scheme != "sha256") {
		log.Fatal("Set WEBHOOK_SECRET to the whsec_… of the endpoint, and WEBHOOK_SCHEME to standard or sha256.")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	server := &http.Server{
		Handler:           receive(verify, &memory{seen: map[string]bool{}}),
		ReadTimeout:       30 * time.Second,
		ReadHeaderTimeout: 10 * time.Second,
	}
	log.Fatal(server.Serve(listener))
}
