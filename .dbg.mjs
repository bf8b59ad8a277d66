import { scriptedServer } from './bench/dashboard-server.js';
import { launch } from 'puppeteer-core';
import { writeFileSync } from 'node:fs';
const server = await scriptedServer({columns:2,releases:20,studies:8});
const b = await launch({executablePath:'/usr/bin/chromium',args:['--headless','--no-sandbox','--disable-gpu','--no-first-run']});
const p = await b.newPage(); await p.setViewport({width:1440,height:900}); await p.goto(server.list); 
await p.waitForFunction(()=>document.querySelectorAll('.studies .dot.live').length===8,{timeout:60000});
const s = await p.createCDPSession();
const heap=async()=>{await s.send('HeapProfiler.collectGarbage');const u=await s.send('Runtime.getHeapUsage');return JSON.stringify(u)};
console.log(await heap());
for(let i=0;i<100;i++){ server.publish(); 
await p.waitForFunction((e)=>[...document.querySelectorAll('.studies > li')].every(c=>c.textContent.includes(`poch ${e}`)),{timeout:15000,polling:20},server.epochText());
if(i%20===9) console.log(i,await heap()); }
const chunks=[]; s.on('HeapProfiler.addHeapSnapshotChunk',({chunk})=>chunks.push(chunk)); await s.send('HeapProfiler.takeHeapSnapshot',{reportProgress:false});
writeFileSync('/tmp/heap.json',chunks.join(''));
await b.close(); await server.close();
