module keelson

go 1.19

require (
	github.com/gorilla/websocket v1.5.0
	golang.org/x/crypto v0.4.0
	google.golang.org/protobuf v1.28.1
)
