// Generated from proto/keelson/v1/wire.proto by scripts/generate-proto.js. Do not edit.
import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

export namespace keelson {

    namespace v1 {

        interface IClientFrame extends keelson.v1.ClientFrame.$Properties {
        }

        class ClientFrame {
            constructor();
            $unknowns?: Uint8Array[];
            hello?: (keelson.v1.Hello.$Properties|null);
            batch?: (keelson.v1.SignedBatch.$Properties|null);
            subscribe?: (keelson.v1.Subscribe.$Properties|null);
            unsubscribe?: (keelson.v1.Unsubscribe.$Properties|null);
            withdraw?: (keelson.v1.Withdraw.$Properties|null);
            kind?: ("hello"|"batch"|"subscribe"|"unsubscribe"|"withdraw");
            static encode(message: keelson.v1.ClientFrame.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        }

        namespace ClientFrame {
            interface $Properties {
                hello?: (keelson.v1.Hello.$Properties|null);
                batch?: (keelson.v1.SignedBatch.$Properties|null);
                subscribe?: (keelson.v1.Subscribe.$Properties|null);
                unsubscribe?: (keelson.v1.Unsubscribe.$Properties|null);
                withdraw?: (keelson.v1.Withdraw.$Properties|null);
                kind?: ("hello"|"batch"|"subscribe"|"unsubscribe"|"withdraw");
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              hello?: keelson.v1.Hello.$Shape|null;
              batch?: keelson.v1.SignedBatch.$Shape|null;
              subscribe?: keelson.v1.Subscribe.$Shape|null;
              unsubscribe?: keelson.v1.Unsubscribe.$Shape|null;
              withdraw?: keelson.v1.Withdraw.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ kind?: undefined; hello?: null; batch?: null; subscribe?: null; unsubscribe?: null; withdraw?: null }|{ kind?: "hello"; hello: keelson.v1.Hello.$Shape; batch?: null; subscribe?: null; unsubscribe?: null; withdraw?: null }|{ kind?: "batch"; hello?: null; batch: keelson.v1.SignedBatch.$Shape; subscribe?: null; unsubscribe?: null; withdraw?: null }|{ kind?: "subscribe"; hello?: null; batch?: null; subscribe: keelson.v1.Subscribe.$Shape; unsubscribe?: null; withdraw?: null }|{ kind?: "unsubscribe"; hello?: null; batch?: null; subscribe?: null; unsubscribe: keelson.v1.Unsubscribe.$Shape; withdraw?: null }|{ kind?: "withdraw"; hello?: null; batch?: null; subscribe?: null; unsubscribe?: null; withdraw: keelson.v1.Withdraw.$Shape })
            );
        }

        interface IHello extends keelson.v1.Hello.$Properties {
        }

        class Hello {
            constructor();
            $unknowns?: Uint8Array[];
            studyId: Uint8Array;
            publicKey: Uint8Array;
            clientNonce: Uint8Array;
            signature: Uint8Array;
            enrolment: Uint8Array;
            static encode(message: keelson.v1.Hello.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        }

        namespace Hello {
            interface $Properties {
                studyId?: (Uint8Array|null);
                publicKey?: (Uint8Array|null);
                clientNonce?: (Uint8Array|null);
                signature?: (Uint8Array|null);
                enrolment?: (Uint8Array|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Hello.$Properties;
        }

        interface ISignedBatch extends keelson.v1.SignedBatch.$Properties {
        }

        class SignedBatch {
            constructor();
            $unknowns?: Uint8Array[];
            channel: number;
            body: Uint8Array;
            signature: Uint8Array;
            static encode(message: keelson.v1.SignedBatch.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        }

        namespace SignedBatch {
            interface $Properties {
                channel?: (number|null);
                body?: (Uint8Array|null);
                signature?: (Uint8Array|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.SignedBatch.$Properties;
        }

        interface IWithdraw extends keelson.v1.Withdraw.$Properties {
        }

        class Withdraw {
            constructor();
            $unknowns?: Uint8Array[];
            channel: number;
            epoch: (number|Long);
            signature: Uint8Array;
            static encode(message: keelson.v1.Withdraw.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        }

        namespace Withdraw {
            interface $Properties {
                channel?: (number|null);
                epoch?: (number|Long|null);
                signature?: (Uint8Array|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Withdraw.$Properties;
        }

        interface ISubscribe extends keelson.v1.Subscribe.$Properties {
        }

        class Subscribe {
            constructor();
            $unknowns?: Uint8Array[];
            studyId: Uint8Array;
            fromRelease: (number|Long);
            static encode(message: keelson.v1.Subscribe.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        }

        namespace Subscribe {
            interface $Properties {
                studyId?: (Uint8Array|null);
                fromRelease?: (number|Long|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Subscribe.$Properties;
        }

        interface IUnsubscribe extends keelson.v1.Unsubscribe.$Properties {
        }

        class Unsubscribe {
            constructor();
            $unknowns?: Uint8Array[];
            studyId: Uint8Array;
            static encode(message: keelson.v1.Unsubscribe.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
        }

        namespace Unsubscribe {
            interface $Properties {
                studyId?: (Uint8Array|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.Unsubscribe.$Properties;
        }
    }
}
