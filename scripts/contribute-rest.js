// The code that keelson-contribute.js loads only where it is needed: see scripts/build.js.
export { UploadTransport } from '../dist/client/http/uploads.js';
export { signing } from '../dist/src/signing/browser.js';
