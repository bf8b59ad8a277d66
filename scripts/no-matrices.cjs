/* global module */
/** Takes the place of the package `ml-matrix` where only plans are made: they have no rows. */
const refuse = () => { throw new Error('a plan decomposed a matrix'); };

module.exports = { Matrix: class { constructor() { refuse(); } }, EigenvalueDecomposition: refuse };
