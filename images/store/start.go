// start PROGRAM [ARG]…: gives the store its root account from /run/secrets/store-root (access key and secret key, a line
// each), then becomes the program. versitygw reads the account from its environment alone, and what stands in a container's
// environment is shown by everyone who may inspect it.
package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

const secret = "/run/secrets/store-root"

func main() {
	if len(os.Args) < 2 {
		fail("usage: start PROGRAM [ARG]...")
	}
	text, err := os.ReadFile(secret)
	if err != nil && !os.IsNotExist(err) {
		fail(err.Error())
	}
	if err == nil {
		keys := strings.Fields(string(text))
		if len(keys) != 2 {
			fail(secret + " must hold an access key and a secret key, a line each")
		}
		os.Setenv("ROOT_ACCESS_KEY_ID", keys[0])
		os.Setenv("ROOT_SECRET_ACCESS_KEY", keys[1])
	}
	fail(syscall.Exec(os.Args[1], os.Args[1:], os.Environ()).Error())
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, "start: "+why)
	os.Exit(1)
}
