module h2spec.test

go 1.19

require github.com/summerwind/h2spec v2.2.1+incompatible

require (
	github.com/fatih/color v1.13.0 // indirect
	github.com/spf13/cobra v1.5.0 // indirect
	golang.org/x/net v0.17.0 // indirect
)
