// Generated from proto/keelson/v1/wire.proto by scripts/generate-proto.js. Do not edit.
import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

export namespace keelson {

    namespace v1 {

        interface IBatchBody extends keelson.v1.BatchBody.$Properties {
        }

        class BatchBody {
            constructor();
            $unknowns?: Uint8Array[];
            studyId: Uint8Array;
            sequence: (number|Long);
            epoch: (number|Long);
            last: boolean;
            rows: number;
            columns: number;
            dataType: keelson.v1.DataType;
            data: Uint8Array;
            static encode(message: keelson.v1.BatchBody.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): keelson.v1.BatchBody & keelson.v1.BatchBody.$Shape;
        }

        namespace BatchBody {
            interface $Properties {
                studyId?: (Uint8Array|null);
                sequence?: (number|Long|null);
                epoch?: (number|Long|null);
                last?: (boolean|null);
                rows?: (number|null);
                columns?: (number|null);
                dataType?: (keelson.v1.DataType|null);
                data?: (Uint8Array|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = keelson.v1.BatchBody.$Properties;
        }

        enum DataType {
            DATA_TYPE_UNSPECIFIED = 0,
            DATA_TYPE_FLOAT32 = 1,
            DATA_TYPE_FLOAT64 = 2
        }
    }
}
