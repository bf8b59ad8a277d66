/** The library that the generated code imports as `#protobuf`; protobuf-browser.ts is for pages. */
export { default } from './generated/protobuf.js';
